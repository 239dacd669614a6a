import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { checkInvariants } from '../support/invariants.ts';
import { lists, TENANTS } from '../support/lockstep-steps.ts';
import { MixedReleases } from '../support/mixed-releases.ts';
import { connectShared } from '../support/queue.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';
import { loadRelease, releases, today } from '../support/releases.ts';
import { advance } from '../support/advance.ts';
import { allDone, claimSome, failed, openLease, payloads, put } from '../support/visits.ts';

const LISTS = 60;
const STEPS = 60;

const redis = connectShared();
afterAll(() => redis.disconnect());

it('holds at least one release against today', () => expect(releases.length).toBeGreaterThan(0));

describe.each(releases)('release %s and today on one queue', async (version) => {
  const released = await loadRelease(version);

  /** Both on a queue of their own. */
  const both = () => {
    const queue = `t${randomBytes(6).toString('hex')}`;
    const [old, now] = [released, today].map((release) => release.createQueueClient({ redis, queue, shard: 0 }));
    if (!old || !now) throw new Error('two releases make two clients');
    return { queue, old, now };
  };
  type Both = ReturnType<typeof both>;

  const directions: [string, (pair: Both) => [QueueClient, QueueClient]][] = [
    [`${version}, then today`, ({ old, now }) => [old, now]],
    [`today, then ${version}`, ({ old, now }) => [now, old]],
  ];

  describe.each(directions)('%s', (_, order) => {
    const start = async () => {
      const pair = both();
      const [first, second] = order(pair);
      await first.configure(testConfig());
      return { first, second, queue: pair.queue };
    };

    it('a job that came with a trace has the payload that was sent, whoever runs it', async () => {
      const { first, second } = await start();
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      await put(first, 'acme', 1, { payload: '{"a":[" "]}', traceparent });
      const [lease] = await claimSome(second, 1);
      if (!lease) throw new Error('there is a visit');
      const [job] = (await openLease(second, lease)).jobs;
      expect(JSON.parse(job?.payload ?? '')).toEqual({ a: [' '] });
    });

    it('a job enqueued by the first is run and settled by the second', async () => {
      const { first, second, queue } = await start();
      await put(first, 'acme', 1, { type: 'invoice', payload: '{"a":[],"n":1.50}', maxAttempts: 2 });
      const [lease] = await claimSome(second, 1);
      if (!lease) throw new Error('there is a visit');
      const visit = await openLease(second, lease);
      expect(visit.jobs).toMatchObject([{ type: 'invoice', payload: '{"a":[],"n":1.50}', attempt: 1, maxAttempts: 2 }]);
      expect(await second.settle(visit, [failed(1)], { claimNext: false })).toEqual({ outcome: 'ended' });
      await advance(redis, queue, 1);
      expect(await first.tick()).toMatchObject({ promoted: 1 });
      const [again] = await claimSome(first, 1);
      if (!again) throw new Error('there is a visit');
      const retried = await openLease(second, again);
      expect(retried.jobs).toMatchObject([{ payload: '{"a":[],"n":1.50}', attempt: 2 }]);
      await first.settle(retried, [failed(1)], { claimNext: false });
      expect(await second.inspect('acme')).toMatchObject({ ready: 0, delayed: 0, inFlight: 0, dead: 1, failed: 2 });
      expect(await checkInvariants(redis, queue)).toEqual([]);
    });

    it('a lease claimed by the first is opened, extended, chained and settled by either', async () => {
      const { first, second, queue } = await start();
      await put(first, 'acme', 6);
      const [lease] = await claimSome(first, 1);
      if (!lease) throw new Error('there is a visit');
      const visit = await openLease(second, lease, 'nonce');
      expect(await first.open(lease, 'nonce')).toMatchObject({ outcome: 'opened', visit: { token: visit.token } });
      expect(await first.open(lease, 'other')).toEqual({ outcome: 'already_open' });
      expect(await first.extend(visit)).toMatchObject({ outcome: 'extended' });
      const chained = await first.settle(visit, allDone(visit), { claimNext: true });
      if (chained.outcome !== 'continued') throw new Error(chained.outcome);
      const next = await second.settle(chained.visit, allDone(chained.visit), { claimNext: true });
      if (next.outcome !== 'continued') throw new Error(next.outcome);
      expect([visit, chained.visit, next.visit].flatMap(payloads)).toEqual(['0', '1', '2', '3', '4', '5']);
      expect(await first.settle(next.visit, allDone(next.visit), { claimNext: false })).toEqual({ outcome: 'ended' });
      expect(await second.settle(next.visit, allDone(next.visit), { claimNext: false })).toEqual({ outcome: 'stale' });
      expect(await second.inspect('acme')).toMatchObject({ ready: 0, delayed: 0, inFlight: 0, done: 6 });
      expect(await checkInvariants(redis, queue)).toEqual([]);
    });

    it('an idempotency key given to the first is known to the second', async () => {
      const { first, second } = await start();
      const request = { tenant: 'acme', idempotencyKey: 'order 7', jobs: newJobs(3) };
      const answer = await first.enqueue(request);
      if (answer.outcome !== 'accepted') throw new Error(answer.outcome);
      expect(await second.enqueue(request)).toEqual({ outcome: 'repeated', ids: answer.ids, depth: 3 });
      expect(await second.enqueue({ ...request, jobs: newJobs(2) })).toEqual({ outcome: 'conflict' });
    });

    it('what operator and billing told the first, the second goes by', async () => {
      const { first, second } = await start();
      await first.subscribe('acme', { plan: 'growth', maxDepth: 2 });
      await first.pause('acme');
      await put(second, 'acme', 2);
      expect(await second.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ outcome: 'full', limit: 2 });
      expect(await second.claim(1)).toMatchObject({ outcome: 'empty' });
      expect(await second.inspect('acme')).toMatchObject({ plan: 'growth', weight: 3, maxDepth: 2 });
      await second.resume('acme');
      expect(await first.claim(1)).toMatchObject({ outcome: 'claimed', visits: [{ tenant: 'acme' }] });
    });

    it('what the first enqueued or holds, the second takes away', async () => {
      const { first, second, queue } = await start();
      await put(first, 'acme', 5);
      const [lease] = await claimSome(first, 1);
      if (!lease) throw new Error('there is a visit');
      const visit = await openLease(first, lease);
      await second.purge('acme', 'everything');
      expect(await first.settle(visit, allDone(visit), { claimNext: false })).toEqual({ outcome: 'stale' });
      expect(await first.stats()).toMatchObject({ ready: 0, inFlight: 0 });
      expect(await checkInvariants(redis, queue)).toEqual([]);
    });
  });

  it('what billing told today of limits that the release does not know survives what it writes', async () => {
    const { old, now } = both();
    await now.configure(testConfig());
    const record = { plan: 'growth', maxBytes: 70, maxJobsPerSecond: 2, burst: 3 };
    await now.subscribe('acme', record);
    await old.pause('acme');
    await old.resume('acme');
    expect(await now.inspect('acme')).toMatchObject({ record, maxBytes: 70, maxJobsPerSecond: 2, burst: 3 });
    // A record that the release took replaces the whole one.
    await old.subscribe('acme', { plan: 'free' });
    expect(await now.inspect('acme')).toMatchObject({ record: { plan: 'free', maxBytes: null }, maxBytes: null });
  });

  it('a tenant that today holds by its rate is served by the release, and held again by today', async () => {
    const { old, now } = both();
    await now.configure(testConfig());
    await now.subscribe('acme', { maxJobsPerSecond: 0.001, burst: 1 });
    await put(now, 'acme', 9);
    await claimSome(now, 1);
    expect(await now.claim(1)).toMatchObject({ outcome: 'empty' });
    await put(old, 'acme', 1);
    expect(await old.claim(1)).toMatchObject({ outcome: 'claimed' });
    await claimSome(now, 1);
    expect(await now.claim(1)).toMatchObject({ outcome: 'empty' });
  });

  it('the configuration of the newer deploy stays, whoever writes last', async () => {
    const { old, now } = both();
    expect(await old.configure(released.configFor({ 'rota.capacity': 4 }, 1_000))).toBe('configured');
    expect(await now.configure(today.configFor({ 'rota.capacity': 9 }, 2_000))).toBe('configured');
    expect(await old.configure(released.configFor({ 'rota.capacity': 4 }, 1_000))).toBe('kept');
    expect(await old.stats()).toMatchObject({ capacity: 9 });
    // A roll back is a newer deploy of the older code.
    expect(await old.configure(released.configFor({ 'rota.capacity': 5 }, 3_000))).toBe('configured');
    expect(await now.configure(today.configFor({ 'rota.capacity': 9 }, 2_000))).toBe('kept');
    expect(await now.stats()).toMatchObject({ capacity: 5 });
  });

  it(`keep every invariant in ${LISTS} random lists of ${STEPS} steps, and run every job`, {
    timeout: 600_000,
  }, async () => {
    let ended = 0;
    const turns = fc.array(fc.boolean(), { minLength: STEPS, maxLength: STEPS, size: 'max' });
    const property = fc.asyncProperty(lists(STEPS), turns, async ({ config, steps }, isOld) => {
      const { queue, old, now } = both();
      const mixed = new MixedReleases(redis, queue, config);
      await old.configure(config);
      for (const [place, step] of steps.entries()) {
        if (!step) continue;
        await mixed.play(isOld[place] ? old : now, step);
        const wrong = await checkInvariants(redis, queue);
        if (wrong.length > 0) throw new Error(`After ${JSON.stringify(step)}:\n- ${wrong.join('\n- ')}`);
      }
      await mixed.drain([old, now], TENANTS);
      const { done, died } = await now.stats();
      expect(new Set(mixed.done).size).toBe(mixed.done.length);
      expect([done, done + died]).toEqual([mixed.done.length, mixed.accepted.length]);
      ended += mixed.accepted.length;
    });
    await fc.assert(property, { numRuns: LISTS });
    expect(ended).toBeGreaterThan(LISTS);
  });
});
