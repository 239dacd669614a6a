import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import type { Settings } from '../../functions/lib/config/table.ts';

/**
 * One line of JSON for each request: who, which route, what came of it, how long it took.
 *
 * No path, query, header or body, of which a producer decides what they hold; and no address of the caller, which is personal
 * data and says less than the identity that the authorizer has checked.
 */
export function accessLogFormat({ api, jwt }: Settings['auth']): AccessLogFormat {
  const caller =
    api === 'iam'
      ? { principal: '$context.identity.userArn' }
      : {
          principal: '$context.authorizer.claims.sub',
          // A claim of another name, such as a URL, is none that a format can hold.
          ...(/^\w+$/.test(jwt.tenantClaim) && { tenant: `$context.authorizer.claims.${jwt.tenantClaim}` }),
        };
  const fields = {
    requestId: '$context.requestId',
    time: '$context.requestTime',
    routeKey: '$context.routeKey',
    status: '$context.status',
    responseBytes: '$context.responseLength',
    latencyMs: '$context.responseLatency',
    integrationStatus: '$context.integrationStatus',
    integrationLatencyMs: '$context.integrationLatency',
    integrationError: '$context.integrationErrorMessage',
    gatewayError: '$context.error.message',
    ...caller,
  };
  return AccessLogFormat.custom(JSON.stringify(fields));
}
