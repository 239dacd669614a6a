import { openCore, type QueueOptions } from './core.ts';
import { dispatcherOf } from './dispatcher.ts';
import { operatorOf } from './operator.ts';
import { producerOf } from './producer.ts';
import type { QueueClient } from './queue-client.ts';
import { workerOf } from './worker.ts';

/** Every face of the queue over one Redis. A function takes only the ones it needs, so that it carries no other scripts. */
export function createQueueClient(options: QueueOptions): QueueClient {
  const core = openCore(options);
  return { ...core, ...producerOf(core), ...workerOf(core), ...dispatcherOf(core), ...operatorOf(core) };
}
