import type { LambdaClient } from '@aws-sdk/client-lambda';

export type InvokeOutcome =
  /** Lambda has the event and will deliver it, perhaps more than once. */
  | { readonly outcome: 'accepted' }
  /** It has not, or nobody knows: `timeout`. `detail` is for the log. */
  | {
      readonly outcome: 'refused';
      readonly reason: 'throttled' | 'unavailable' | 'timeout' | 'rejected';
      readonly detail: string;
    };

/** Hands an event to a function without waiting for what becomes of it. Never throws. */
export type Invoker = (functionName: string, event: unknown) => Promise<InvokeOutcome>;

interface InvokerOptions {
  /** How long connecting and answering may take together, in ms, for all attempts. */
  readonly timeoutMs: number;
  /** Connections to the service at once. */
  readonly connections: number;
}

function reasonOf(error: unknown): 'throttled' | 'unavailable' | 'timeout' | 'rejected' {
  if (!(error instanceof Error)) return 'unavailable';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'timeout';
  const metadata: unknown = Reflect.get(error, '$metadata');
  const status: unknown =
    typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'httpStatusCode') : undefined;
  if (status === 429) return 'throttled';
  return typeof status === 'number' && status >= 400 && status < 500 ? 'rejected' : 'unavailable';
}

/**
 * An invoker over the Lambda API. The SDK is loaded at the first invoke: it takes 120 ms, and an enqueue mostly finds a
 * dispatcher alive and invokes nobody.
 */
export function createInvoker({ timeoutMs, connections }: InvokerOptions): Invoker {
  let loaded: Promise<{ client: LambdaClient; sdk: typeof import('@aws-sdk/client-lambda') }> | undefined;
  const load = async () => {
    const sdk = await import('@aws-sdk/client-lambda');
    const client = new sdk.LambdaClient({
      // One more try for a connection that died while the environment was frozen; the caller knows better what to do next.
      maxAttempts: 2,
      requestHandler: {
        connectionTimeout: 1_000,
        httpsAgent: { maxSockets: connections },
        httpAgent: { maxSockets: connections },
      },
    });
    return { client, sdk };
  };

  return async (functionName, event) => {
    try {
      loaded ??= load();
      const { client, sdk } = await loaded;
      const command = new sdk.InvokeCommand({
        FunctionName: functionName,
        InvocationType: 'Event',
        Payload: JSON.stringify(event),
      });
      await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
      return { outcome: 'accepted' };
    } catch (error) {
      const detail = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
      return { outcome: 'refused', reason: reasonOf(error), detail };
    }
  };
}
