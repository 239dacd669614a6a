import { describe, expect, it } from 'vitest';
import { type Fault, SettingsError } from '../../../functions/lib/config/faults.ts';
import { parseSettings, settingRows } from '../../../functions/lib/config/parse.ts';

const faultsOf = (context: Record<string, unknown>, local = false): readonly Fault[] => {
  try {
    parseSettings(context, { local });
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
  return [];
};

const paths = (context: Record<string, unknown>, local = false) => faultsOf(context, local).map((fault) => fault.path);

describe('settings of a queue alone', () => {
  it('cannot use an endpoint of a network that is only made with them', () => {
    expect(() => parseSettings({ 'rota.endpoint': 'existing' }, { alone: true })).toThrow(
      /endpoint: given "existing", expected create, or none/,
    );
    expect(parseSettings({ 'rota.endpoint': 'existing' })).toMatchObject({ endpoint: 'existing' });
  });
});

describe('a setting', () => {
  it.each([
    ['webhook.signingSecret', 'whsec_c2VjcmV0IG9mIHRoZSB3ZWJob29r'],
    ['runbookUrl', 'javascript:alert(1)'],
    ['restoreFrom', '-bad--name'],
  ])('%s is refused as %s', (path, given) => {
    expect(paths({ [`rota.${path}`]: given })).toEqual([path]);
  });

  it('that may be a key by mistake is not shown in its fault', () => {
    expect(() => parseSettings({ 'rota.webhook.signingSecret': 'whsec_c2VjcmV0' })).toThrow('(not shown)');
    expect(() => parseSettings({ 'rota.webhook.signingSecret': 'whsec_c2VjcmV0' })).not.toThrow('c2VjcmV0');
  });
});

/** What a plan says of limits that it has not. */
const unlimited = { maxBytes: null, maxJobsPerSecond: null, burst: null };

describe('settings', () => {
  it('have the documented defaults when nothing is given', () => {
    const settings = parseSettings({}, { nowSeconds: 1_700_000_000 });
    expect(settings.plans).toEqual({
      enterprise: { weight: 8, maxDepth: 500_000, maxConcurrency: 50, ...unlimited },
      growth: { weight: 3, maxDepth: 100_000, maxConcurrency: 50, ...unlimited },
      free: { weight: 1, maxDepth: 5_000, maxConcurrency: 50, ...unlimited },
    });
    expect(settings).toMatchObject({ queue: 'default', capacity: 40, unopenedLimit: 4, deployVersion: 1_700_000_000 });
  });

  it('take values from the object and let a path override one of them', () => {
    const settings = parseSettings({
      rota: { capacity: 10, retry: { maxAttempts: 2 } },
      'rota.retry.maxAttempts': '7',
    });
    expect(settings.capacity).toBe(10);
    expect(settings.retry).toEqual({ maxAttempts: 7, baseSeconds: 2, capSeconds: 600 });
  });

  it('read the text of a command line as what the table says', () => {
    const settings = parseSettings(
      {
        'rota.plans.free.weight': '0.5',
        'rota.reserveConcurrency': 'false',
        'rota.webhook.allowedHosts': '127.0.0.1, [::1]:8080 ,hooks.example.com:443',
      },
      { local: true },
    );
    expect(settings.plans.free?.weight).toBe(0.5);
    expect(settings.reserveConcurrency).toBe(false);
    expect(settings.webhook.allowedHosts).toEqual(['127.0.0.1', '[::1]:8080', 'hooks.example.com:443']);
  });

  it('keep the other plans when a path changes or adds one', () => {
    const settings = parseSettings({ 'rota.plans.gold.weight': '20', 'rota.plans.gold.maxDepth': '7' });
    expect(Object.keys(settings.plans)).toEqual(['enterprise', 'growth', 'free', 'gold']);
    expect(settings.plans.gold).toEqual({ weight: 20, maxDepth: 7, maxConcurrency: 50, ...unlimited });
  });

  it('replace the plans by those of an object', () => {
    const settings = parseSettings({
      rota: { defaultPlan: 'only', plans: { only: { weight: 1, maxDepth: 9 } }, maxConcurrency: 3 },
    });
    expect(settings.plans).toEqual({ only: { weight: 1, maxDepth: 9, maxConcurrency: 3, ...unlimited } });
  });

  it('derive the limit of unopened leases from the capacity', () => {
    expect(parseSettings({ 'rota.capacity': '1' }).unopenedLimit).toBe(2);
    expect(parseSettings({ 'rota.capacity': '101' }).unopenedLimit).toBe(11);
    expect(parseSettings({ 'rota.capacity': '101', 'rota.unopenedLimit': '3' }).unopenedLimit).toBe(3);
  });

  it('refuse unknown paths by name and list the known ones', () => {
    const [first, second] = faultsOf({ rota: { capacitty: 3 }, 'rota.plans.free.depth': '10' });
    expect(first).toMatchObject({ path: 'capacitty', given: 3, expected: expect.stringContaining('maxVisitSeconds') });
    expect(second).toMatchObject({
      path: 'plans.free.depth',
      expected: expect.stringContaining('plans.free.maxDepth'),
    });
  });

  it('refuse a key that lacks the prefix, where nothing else reads the context', () => {
    const context = { capacity: '5', 'Rota.quantum': '3', '@aws-cdk/core:x': true, mine: 1 };
    expect(() => parseSettings(context, { alone: true })).toThrow(
      /capacity: given "5", expected the key rota\.capacity\n {2}Rota\.quantum: given "3", expected the key rota\.quantum$/,
    );
    expect(parseSettings(context).capacity).toBe(40);
  });

  it('report every fault at once with path, value and expectation', () => {
    const context = {
      rota: { quantum: 0, plans: { free: { weight: -1 }, 'a b': { weight: 1, maxDepth: 1 } }, auth: { api: 'jwt' } },
      'rota.leaseSeconds': 'soon',
      'rota.retry.baseSeconds': '700',
    };
    expect(() => parseSettings(context)).toThrow(/leaseSeconds: given "soon", expected a whole number from 5 to 900/);
    expect(paths(context).toSorted()).toEqual([
      'auth.jwt.audience',
      'auth.jwt.issuer',
      'leaseSeconds',
      'plans.a b',
      'plans.free.weight',
      'quantum',
      'retry.baseSeconds',
    ]);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '', ' ', '1e3', '0x10', '3x', null, true, [], {}])(
    'refuse %j as a weight',
    (weight) => {
      expect(paths({ rota: { plans: { free: { weight } } } })).toEqual(['plans.free.weight']);
    },
  );

  it.each(['', 'A', '-a', 'a_b', 'a'.repeat(32), 'a:b', 'a}b'])('refuse %j as the name of a queue', (queue) => {
    expect(paths({ rota: { queue } })).toEqual(['queue']);
  });

  it.each(['http://a', 'a/b', 'A.com', 'a:0', 'a:', '*', 'a b', 'u@a'])('refuse %j as an allowed host', (host) => {
    expect(paths({ 'rota.webhook.allowedHosts': host }, true)).toEqual(['webhook.allowedHosts']);
  });

  it('treat names of object internals as names', () => {
    expect(paths({ 'rota.__proto__.weight': '1' })).toEqual(['__proto__']);
    expect(paths({ 'rota.constructor': '1' })).toEqual(['constructor']);
    expect(parseSettings({}).plans).not.toHaveProperty('weight');
  });

  it.each<[string, Record<string, unknown>]>([
    ['defaultPlan', { defaultPlan: 'gone' }],
    ['jobTimeoutSeconds', { jobTimeoutSeconds: 60, processTimeoutSeconds: 74 }],
    ['maxVisitSeconds', { maxVisitSeconds: 300 }],
    ['unopenedLimit', { unopenedLimit: 41 }],
    ['retry.baseSeconds', { retry: { baseSeconds: 601 } }],
    ['webhook.allowedHosts', { webhook: { allowedHosts: ['example.com'] } }],
    ['endpoint', { endpoint: 'none' }],
    ['engine', { durability: 'sync', nodeType: 'cache.m7g.large' }],
    ['replicas', { durability: 'sync', engine: 'valkey', nodeType: 'cache.m7g.large', replicas: 0 }],
    ['nodeType', { durability: 'async', engine: 'valkey' }],
    [
      'auth.jwt.scopes.operate',
      { auth: { api: 'jwt', jwt: { issuer: 'https://i', audience: ['a'], scopes: { operate: [] } } } },
    ],
  ])('refuse a relation that does not hold: %s', (path, rota) => {
    expect(paths({ rota })).toEqual([path]);
  });

  it.each(['r6g', 'r7g', 'r8g', 'm6g', 'm7g', 'm8g', 'c7gn', 'c8gn'])('take %s for a durable cache', (family) => {
    expect(paths({ rota: { durability: 'async', engine: 'valkey', nodeType: `cache.${family}.large` } })).toEqual([]);
  });

  it.each(['t4g', 'r6gd', 'r5', 'm5', 'c6gn', 'xr7g'])('refuse %s for a durable cache', (family) => {
    const rota = { engine: 'valkey', nodeType: `cache.${family}.large` };
    expect(paths({ rota })).toEqual([]);
    expect(paths({ rota: { ...rota, durability: 'async' } })).toEqual(['nodeType']);
  });

  it('say all that a durable cache lacks, and what to set instead', () => {
    expect(() => parseSettings({ rota: { durability: 'sync', replicas: 0 } })).toThrow(
      [
        'engine: given "redis", expected valkey, since durability is sync',
        'replicas: given 0, expected at least 1, since durability is sync',
        'nodeType: given "cache.t4g.small", expected a node type of the families r6g to r8g, m6g to m8g, c7gn or c8gn, since durability is sync',
      ].join('\n  '),
    );
  });

  it('let jobs call hosts without egress only on this machine', () => {
    const rota = { webhook: { allowedHosts: ['example.com'] } };
    expect(paths({ rota }, true)).toEqual([]);
    expect(paths({ rota: { ...rota, egress: 'ipv6' } })).toEqual([]);
  });

  it('say nothing of a relation with a value that is wrong by itself', () => {
    expect(paths({ rota: { processTimeoutSeconds: 1, jobTimeoutSeconds: 800 } })).toEqual(['processTimeoutSeconds']);
  });

  it('can all be listed for the documentation', () => {
    const rows = settingRows();
    expect(rows.every((row) => row.sentence.endsWith('.') && row.expected !== '')).toBe(true);
    expect(rows).toContainEqual(expect.objectContaining({ path: 'capacity', default: '40', unit: 'visits' }));
  });
});
