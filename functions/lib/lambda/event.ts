import withMiddleware from '@middy/core';
import type { Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import { describeThrown, type FunctionLog, logRequest } from '../telemetry/logger.ts';
import { faultsOf } from './faults.ts';

/** An event that the function cannot make sense of. Sending it again would not help. */
class EventError extends Error {
  override readonly name = 'EventError';
  readonly code = 'event_invalid';
  readonly retryable = false;
}

interface EventOptions<Event extends z.ZodMiniType> {
  readonly log: FunctionLog;
  readonly schema: Event;
}

/** The one stack for functions that are handed events: checks the event, makes one call, and logs what went wrong. */
export function eventHandler<Event extends z.ZodMiniType>(
  { log, schema }: EventOptions<Event>,
  handle: (event: z.output<Event>, context: Context) => Promise<void>,
) {
  async function handleEvent(event: unknown, context: Context): Promise<void> {
    logRequest(log, context.awsRequestId);
    const read = schema.safeParse(event);
    if (!read.success) {
      const faults = faultsOf('body', event, read.error.issues).map(({ path, detail }) => `${path}: ${detail}`);
      throw new EventError(`The event cannot be used: ${faults.join('; ')}`);
    }
    await handle(read.data, context);
  }

  /** Says it in the log's own form; Lambda then hears of it as well, since nothing answers in its place. */
  const logFailure = ({ error }: { error: unknown }): void => {
    log.error('event failed', { reason: describeThrown(error) });
  };

  return withMiddleware(handleEvent).onError(logFailure);
}
