import verb from '../../../../lua/stats.lua';
import type { QueueStats } from '../../domain/outcomes.ts';
import { forQueue } from '../parts.ts';
import { afterOutcome, defineScript, number, optional } from '../script.ts';
import { measured } from './enqueue.ts';
import { fieldsOf } from './inspect.ts';

export const stats = defineScript({
  name: 'stats',
  parts: [...forQueue, verb],
  allowOom: true,
  fields: [],
  decode: (reply): QueueStats => {
    const [now, ...flat] = afterOutcome('stats', 'stats', reply);
    const field = fieldsOf(flat);
    const count = (name: string) => number(field(name));
    return {
      nowMs: number(now),
      paused: count('paused') === 1,
      capacity: count('capacity'),
      deployedCapacity: count('deployedCapacity'),
      visitsInFlight: count('visitsInFlight'),
      visitsUnopened: count('visitsUnopened'),
      rotation: count('rotation'),
      waitingTenants: count('waitingTenants'),
      ready: count('ready'),
      delayed: count('delayed'),
      inFlight: count('flight'),
      dead: count('dead'),
      bytes: count('bytes'),
      oldestReadySinceMs: optional(field('oldest')),
      dispatcherAlive: count('dispatcher') === 1,
      enqueued: count('enqueued'),
      served: count('served'),
      done: count('done'),
      failed: count('failed'),
      died: count('died'),
      dropped: count('dropped'),
      late: count('late'),
      ratePerSecond: measured(field('rate')),
      virtualClock: count('v'),
    };
  },
});
