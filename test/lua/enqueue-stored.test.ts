import { describe, expect, it } from 'vitest';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJob } from '../support/queue-fixture.ts';
import { allDone, claimSome, learn, openLease, payloads, put } from '../support/visits.ts';

describe('what is stored', () => {
  const ids = [
    'a:b{c}|*%',
    'a:b{c}|*',
    '🦊🦊',
    '🦊',
    '0',
    '00',
    '123456789012345',
    'ready:acme',
    'acme',
    ' acme',
    'acme ',
    'Acme',
    '%s%d',
    '𝕏'.repeat(128),
    'x'.repeat(128),
    '}',
    '{rota:q:0}',
  ];

  it('keeps odd tenant ids apart and as they are', async () => {
    const { client } = await testQueue();
    for (const [i, tenant] of ids.entries()) await put(client, tenant, 1, { payload: JSON.stringify([i, tenant]) });
    const seen = new Map<string, string>();
    for (const lease of await claimSome(client, 40)) {
      const visit = await openLease(client, lease);
      expect(visit.tenant).toBe(lease.tenant);
      expect(visit.jobs).toHaveLength(1);
      seen.set(visit.tenant, visit.jobs[0]?.payload ?? '');
      await client.settle(visit, allDone(visit), { claimNext: false });
    }
    expect([...seen.keys()]).toEqual(ids);
    for (const [i, tenant] of ids.entries()) {
      expect(JSON.parse(seen.get(tenant) ?? '')).toEqual([i, tenant]);
      expect(await client.inspect(tenant)).toMatchObject({ tenant, ready: 0, done: 1 });
    }
  });

  it('gives payload bytes back as they came', async () => {
    const { client } = await testQueue();
    const texts = [
      '[]',
      '{}',
      'null',
      '""',
      '[[],{},{"a":[]}]',
      '1.0e2',
      '12345678901234567890.123',
      '-0',
      '"\u2028 \u2029 \\u2028"',
      JSON.stringify('a:b|c,d;e\\0\u0000\t\r\n"quotes" {x} %s $1'),
      '{\n  "formatted":\n\n true\n}',
      '"\\ud800"',
      JSON.stringify('🦊'.repeat(20)),
      JSON.stringify('x'.repeat(262_142)),
      JSON.stringify('é'.repeat(131_071)),
    ];
    await client.enqueue({ tenant: 'acme', jobs: texts.map((payload) => newJob({ payload })) });
    const seen: string[] = [];
    let next = await client.claim(1);
    while (next.outcome === 'claimed') {
      const [lease] = next.visits;
      if (lease === undefined) break;
      const visit = await openLease(client, lease);
      seen.push(...payloads(visit));
      await client.settle(visit, allDone(visit), { claimNext: false });
      next = await client.claim(1);
    }
    expect(seen).toEqual(texts);
  });

  it('keeps type, attempts, timeout and times of a job, at their bounds', async () => {
    const { client } = await testQueue();
    const given = { type: 'a-type.with_all', maxAttempts: 100, timeoutSeconds: 899, cost: 1_000 };
    await put(client, 'acme', 1, given);
    const { jobs, nowMs } = await claimOne(client);
    expect(jobs[0]).toMatchObject({ index: 1, type: given.type, attempt: 1, maxAttempts: 100, timeoutSeconds: 899 });
    expect(jobs[0]?.readySinceMs).toBe(jobs[0]?.enqueuedAtMs);
    expect(nowMs - (jobs[0]?.enqueuedAtMs ?? 0)).toBeGreaterThanOrEqual(0);
    expect(nowMs - (jobs[0]?.enqueuedAtMs ?? 0)).toBeLessThan(10_000);
  });

  it('counts the bytes that wait', async () => {
    const { client } = await testQueue();
    await put(client, 'acme', 2, { payload: '"1234"' });
    await put(client, 'acme', 1, { payload: '"é"', delayMs: 60_000 });
    const bytes = 2 * 'echo\n"1234"'.length + 'echo\n"e"'.length + 1;
    expect(await client.inspect('acme')).toMatchObject({ bytes });
    expect(await client.stats()).toMatchObject({ bytes });
    await claimOne(client);
    expect(await client.stats()).toMatchObject({ bytes: bytes - 'echo\n"1234"'.length });
  });

  it('holds a batch of 500 jobs in order', async () => {
    const { client } = await testQueue({ quantum: 1_000, maxVisitMs: 600_000 });
    await learn(client, ['acme'], 1);
    await put(client, 'acme', 500);
    expect(payloads(await claimOne(client))).toEqual(Array.from({ length: 500 }, (_, i) => String(i)));
  });
});
