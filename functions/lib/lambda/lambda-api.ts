import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';

/** The one call of the Lambda API that there is need for. Loaded by the invoker when it is first needed. */
export function createLambdaApi(connections: number) {
  const agent = { maxSockets: connections };
  const client = new LambdaClient({
    // One more try for a connection that died while the environment was frozen; the caller knows better what to do next.
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1_000, httpsAgent: agent, httpAgent: agent },
  });
  return async (functionName: string, event: unknown, timeoutMs: number): Promise<void> => {
    const command = new InvokeCommand({
      FunctionName: functionName,
      InvocationType: 'Event',
      Payload: JSON.stringify(event),
    });
    await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
  };
}
