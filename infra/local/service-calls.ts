import type { DeclaredFunction } from './functions.ts';
import type { Call, Permissions } from './permissions.ts';

/** What Lambda calls with the role of a function so that its code can run at all, in a network and with a log. */
function callsOfLambda({ name, arn, role, roleArn, logGroup, inNetwork }: DeclaredFunction): Call[] {
  const [, , , region, accountId] = arn.split(':');
  const calls: Call[] = [{ caller: 'lambda.amazonaws.com', action: 'sts:AssumeRole', resource: roleArn }];
  const withRole = (action: string, resource: string) => calls.push({ caller: role, action, resource });
  if (inNetwork) {
    const networkInterface = `arn:aws:ec2:${region}:${accountId}:network-interface/${name}`;
    withRole('ec2:CreateNetworkInterface', networkInterface);
    withRole('ec2:DeleteNetworkInterface', networkInterface);
    withRole('ec2:DescribeNetworkInterfaces', '*');
    withRole('ec2:DescribeSubnets', '*');
  }
  const logStream = `arn:aws:logs:${region}:${accountId}:log-group:${logGroup}:log-stream:${name}`;
  withRole('logs:CreateLogStream', logStream);
  withRole('logs:PutLogEvents', logStream);
  return calls;
}

/**
 * Asks for each function whether the service may do what it has to with the function's role. On AWS a deploy fails where it
 * may not, or the function runs without a log.
 *
 * @throws Error naming every refused call.
 */
export async function checkServiceCalls(
  functions: readonly DeclaredFunction[],
  permissions: Permissions,
): Promise<void> {
  const refused = await Promise.all(
    functions.map(async (declared) => {
      const calls = callsOfLambda(declared);
      const allowed = await Promise.all(calls.map(async (call) => await permissions.allows(call)));
      return calls
        .filter((_, i) => allowed[i] === false)
        .map(({ caller, action, resource }) => `Function ${declared.name}: ${caller} may not ${action} on ${resource}`);
    }),
  );
  if (refused.flat().length > 0) throw new Error(refused.flat().join('\n'));
}
