import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { routes } from '../../functions/contract/routes.ts';
import { permissionsFor } from '../../functions/lib/lambda/route.ts';
import type { Settings } from '../../functions/lib/config/table.ts';
import { accessLogFormat } from './access-log.ts';
import type { Functions } from './functions.ts';
import { makeLogGroup } from './log-group.ts';
import type { QueueNames } from './names.ts';

interface ApiProps {
  readonly settings: Pick<Settings, 'queue' | 'auth' | 'throttle' | 'logRetentionDays'>;
  readonly names: QueueNames;
  readonly functions: Functions;
}

/** The HTTP contract: one route for each entry of the route table, none without an authorizer. */
export class Api extends Construct {
  readonly url: string;
  readonly httpApi: apigateway.HttpApi;
  readonly accessLog: logs.LogGroup;

  constructor(scope: Construct, id: string, { settings, names, functions }: ApiProps) {
    super(scope, id);
    const { queue, auth, throttle } = settings;
    this.httpApi = new apigateway.HttpApi(this, 'HttpApi', {
      apiName: `rota-${names.full}`,
      description: `Rota queue ${queue}`,
      createDefaultStage: false,
    });
    this.url = this.httpApi.apiEndpoint;
    this.accessLog = makeLogGroup(this, 'AccessLog', {
      settings,
      // Of groups under this prefix the service needs no entry in the account's one resource policy, which has room for few.
      logGroupName: `/aws/vendedlogs/rota/${names.full}/api`,
    });
    this.httpApi.addStage('Stage', {
      autoDeploy: true,
      throttle: { rateLimit: throttle.ratePerSecond, burstLimit: throttle.burst },
      accessLogSettings: {
        destination: new apigateway.LogGroupLogDestination(this.accessLog),
        format: accessLogFormat(auth),
      },
    });

    // One permission for a function, not one for each of its routes: twenty would come near the limit of its policy.
    const integrate = (name: 'enqueue' | 'tenants') =>
      new HttpLambdaIntegration(`${name}Integration`, functions[name], { scopePermissionToRoute: false });
    const integrations = { enqueue: integrate('enqueue'), tenants: integrate('tenants') };
    const jwt = auth.api === 'jwt';
    const authorizer = jwt
      ? new HttpJwtAuthorizer('Jwt', auth.jwt.issuer, { jwtAudience: [...auth.jwt.audience] })
      : new HttpIamAuthorizer();
    for (const route of routes) {
      this.httpApi.addRoutes({
        path: route.path,
        methods: [apigateway.HttpMethod[route.method]],
        integration: integrations[route.function],
        authorizer,
        authorizationScopes: jwt
          ? permissionsFor[route.access].flatMap((permission) => auth.jwt.scopes[permission])
          : undefined,
      });
    }
  }
}
