import { describe, expect, it } from 'vitest';
import { fromEnv, toEnv } from '../../../functions/lib/config/env.ts';
import { parseSettings } from '../../../functions/lib/config/parse.ts';
import { queueConfig } from '../../../functions/lib/config/queue-config.ts';

const wiring = {
  redis: {
    url: 'rediss://rota-default@cache.example:6379',
    cluster: true,
    auth: 'iam',
    name: 'rota-default',
    secret: '',
  },
  shard: 0,
  metricsName: 'default-0',
} as const;

const settings = parseSettings(
  {
    rota: {
      webhook: { allowedHosts: ['a.example', 'b.example:443'] },
      plans: { free: {}, 'a-1': { weight: 0.25, maxDepth: 0 } },
    },
  },
  { local: true, nowSeconds: 5 },
);

describe('the environment of the functions', () => {
  it('gives back what the stack wrote', () => {
    const runtime = fromEnv(toEnv(settings, { ...wiring, processFunction: 'p' }), 'processFunction');
    const { plans, webhook, auth, retry, capacity, deployVersion } = settings;
    expect(runtime).toMatchObject({
      plans,
      webhook,
      auth,
      retry,
      capacity,
      deployVersion,
      ...wiring,
      processFunction: 'p',
    });
    expect(runtime).not.toHaveProperty('nodeType');
  });

  it('names variables after the paths of the settings', () => {
    expect(toEnv(settings, wiring)).toMatchObject({
      ROTA_QUEUE: 'default',
      ROTA_RETRY_MAX_ATTEMPTS: '5',
      ROTA_REDIS_URL: wiring.redis.url,
      ROTA_REDIS_CLUSTER: 'true',
      ROTA_SHARD: '0',
      ROTA_WEBHOOK_ALLOWED_HOSTS: 'a.example,b.example:443',
    });
  });

  it('hands a link only to whom the stack gives it', () => {
    expect(toEnv(settings, wiring)).not.toHaveProperty('ROTA_PROCESS_FUNCTION');
    expect(() => fromEnv(toEnv(settings, wiring), 'processFunction')).toThrow(/ROTA_PROCESS_FUNCTION: missing/);
  });

  it('reports everything missing and malformed in one message', () => {
    const env = { ...toEnv(settings, wiring), ROTA_CAPACITY: 'many', ROTA_PLANS: '{', ROTA_QUEUE: undefined };
    expect(() => fromEnv(env)).toThrow(
      /3 faults[^]*ROTA_QUEUE: missing[^]*ROTA_PLANS: given "\{", expected an object[^]*ROTA_CAPACITY: given "many"/,
    );
  });

  it('is refused when it is more than Lambda takes', () => {
    const plans = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`plan-${n}`, { weight: 1, maxDepth: 1 }]));
    expect(() => toEnv(parseSettings({ rota: { plans, defaultPlan: 'plan-0' } }), wiring)).toThrow(
      /at most 3500 bytes/,
    );
  });
});

describe('the configuration stored in Redis', () => {
  it('holds the bounds in milliseconds', () => {
    expect(queueConfig(parseSettings({ 'rota.maxVisitSeconds': '0.25' }, { nowSeconds: 5 }))).toEqual({
      version: 5,
      plans: parseSettings({}).plans,
      defaultPlan: 'free',
      quantum: 4,
      capacity: 40,
      visitConcurrency: 1,
      maxVisitMs: 250,
      spreadMs: 1000,
      leaseMs: 60_000,
      openMs: 20_000,
      unopenedLimit: 4,
      maxConcurrency: 50,
      deadLetters: 1000,
      idempotencyMs: 86_400_000,
      purgeMs: 120_000,
      maxQueueDepth: null,
      maxQueueBytes: null,
    });
  });
});
