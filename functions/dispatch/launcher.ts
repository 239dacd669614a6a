import type { ClaimedVisit } from '../lib/domain/outcomes.ts';
import type { InvokeOutcome } from '../lib/lambda/invoker.ts';
import type { Dispatcher } from '../lib/queue/queue-client.ts';
import { describeThrown, type Log } from '../lib/telemetry/logger.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';

/** Invokes at once. More would wait for connections. */
export const INVOKES_MAX = 20;

interface LauncherOptions {
  readonly invoke: (visit: ClaimedVisit) => Promise<InvokeOutcome>;
  readonly queue: Pick<Dispatcher, 'release'>;
  readonly log: Log;
}

/** Gives each claimed visit its invocation, and those back to the queue that are refused one. */
export class Launcher {
  readonly counts = { visits: 0, jobs: 0, refused: 0 };
  private readonly options: LauncherOptions;
  private readonly waiting: ClaimedVisit[] = [];
  private readonly underWay = new Set<Promise<void>>();

  constructor(options: LauncherOptions) {
    this.options = options;
  }

  /** Visits that have no invocation yet. */
  get pending(): number {
    return this.waiting.length + this.underWay.size;
  }

  launch(visits: readonly ClaimedVisit[]): void {
    this.waiting.push(...visits);
    while (this.underWay.size < INVOKES_MAX) {
      const visit = this.waiting.shift();
      if (visit === undefined) return;
      this.begin(visit);
    }
  }

  /** Resolves when a visit has got its invocation or was given back; at once when none is pending. */
  async next(): Promise<void> {
    await Promise.race([...this.underWay, ...(this.underWay.size === 0 ? [Promise.resolve()] : [])]);
  }

  /** Resolves when no visit is pending any more. */
  async settled(): Promise<void> {
    while (this.pending > 0) await this.next();
  }

  private begin(visit: ClaimedVisit): void {
    const launching = this.one(visit).finally(() => {
      this.underWay.delete(launching);
      this.launch([]);
    });
    this.underWay.add(launching);
  }

  private async one(visit: ClaimedVisit): Promise<void> {
    const { queue, log, invoke } = this.options;
    const { leaseId, token, tenant, jobs } = visit;
    const invoked = await invoke(visit);
    if (invoked.outcome === 'accepted') {
      this.counts.visits += 1;
      this.counts.jobs += jobs;
      return;
    }
    this.counts.refused += 1;
    log.warn('invoke refused', {
      tenant: tenantLabel(tenant),
      leaseId,
      jobs,
      reason: invoked.reason,
      detail: invoked.detail,
    });
    try {
      // After a timeout the event may come all the same: it will find the lease gone.
      await queue.release({ leaseId, token });
    } catch (error) {
      log.warn('visit not released, its lease will lapse', {
        tenant: tenantLabel(tenant),
        leaseId,
        reason: describeThrown(error),
      });
    }
  }
}
