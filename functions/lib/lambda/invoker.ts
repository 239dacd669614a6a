import { describeThrown } from '../telemetry/logger.ts';
import type { createLambdaApi } from './lambda-api.ts';

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
  let loading: Promise<ReturnType<typeof createLambdaApi>> | undefined;
  // By way of a module of ours: of a package that is itself loaded like this, a bundle keeps every export.
  const load = async () => (await import('./lambda-api.ts')).createLambdaApi(connections);

  return async (functionName, event) => {
    try {
      loading ??= load();
      const invoke = await loading;
      await invoke(functionName, event, timeoutMs);
      return { outcome: 'accepted' };
    } catch (error) {
      return { outcome: 'refused', reason: reasonOf(error), detail: describeThrown(error) };
    }
  };
}
