import { JSON_PATH } from '../domain/path.ts';
import type { PlanLimits } from './queue-config.ts';
import { decimal, flag, list, named, oneOf, orNone, text, type Values, whole } from './setting.ts';

/** What a plan, or a tenant's own record, may say about a tenant. */
const limits = {
  weight: decimal(0.01, 1000, { sentence: 'Share of service relative to other tenants.' }),
  maxDepth: whole(0, 100_000_000, { sentence: 'Most jobs that may wait.', unit: 'jobs' }),
  maxConcurrency: whole(0, 10_000, {
    sentence: 'Most lanes a tenant may hold; 0 serves nothing.',
    unit: 'lanes',
    default: { words: '`maxConcurrency`', from: (known) => known.maxConcurrency },
  }),
  maxBytes: orNone(
    whole(0, 1_000_000_000_000, { sentence: 'Most bytes that the payloads of waiting jobs may have.', unit: 'bytes' }),
  ),
  maxJobsPerSecond: orNone(
    decimal(0.001, 1_000_000, {
      sentence: 'Most jobs that are served; a retry does not count.',
      unit: 'jobs a second',
    }),
  ),
  burst: orNone(
    whole(1, 1_000_000, {
      sentence: 'How many jobs may be served at once under `maxJobsPerSecond`; by default what a second brings.',
      unit: 'jobs',
    }),
  ),
};

const pathOrNothing = new RegExp(`^(${JSON_PATH.source.slice(1, -1)})?$`);

const host = /^(\[[0-9a-f:]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9]\d{0,4})?$/;

/** Settings that the functions need while they run: the stack hands them over as environment variables. */
export const functionTable = {
  queue: text(/^[a-z][a-z0-9-]{0,30}$/, 'a lowercase letter, then up to 30 lowercase letters, digits or hyphens', {
    sentence: 'Name of the queue; part of every key in Redis.',
    default: 'default',
  }),
  plans: named<Required<PlanLimits>>({
    sentence: 'Plans that a tenant can be on. Given as an object, the set replaces the default one.',
    name: /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    nameExpected: 'a plan name: a letter or digit, then up to 63 letters, digits, underscores or hyphens',
    fields: limits,
    default: {
      enterprise: { weight: 8, maxDepth: 500_000 },
      growth: { weight: 3, maxDepth: 100_000 },
      free: { weight: 1, maxDepth: 5_000 },
    },
  }),
  defaultPlan: text(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'the name of one of the plans', {
    sentence: 'Plan of a tenant for which neither its record nor its caller names one.',
    default: 'free',
  }),
  maxQueueDepth: orNone(
    whole(0, 1_000_000_000, {
      sentence: 'Most jobs of all tenants that may wait; beyond it nobody may enqueue.',
      unit: 'jobs',
    }),
  ),
  maxQueueBytes: orNone(
    whole(0, 1_000_000_000_000, {
      sentence:
        'Most bytes that the payloads of all waiting jobs may have: to be set so that Redis never fills (see the sizing page).',
      unit: 'bytes',
    }),
  ),
  tenantFrom: text(pathOrNothing, 'a path into the payload such as account_id or args[0].account_id, or nothing', {
    sentence:
      'Where a payload names its tenant, for producers that send none beside the jobs; empty when nowhere. A payload that names another tenant than the request is refused.',
    default: '',
  }),
  quantum: whole(1, 1_000, {
    sentence: 'Budget of a visit to a tenant of weight 1.',
    unit: 'cost units',
    default: 4,
  }),
  maxConcurrency: whole(0, 10_000, {
    sentence: 'Most lanes a tenant may hold where its plan does not say.',
    unit: 'lanes',
    default: 50,
  }),
  visitConcurrency: whole(1, 100, {
    sentence: 'How many jobs of one visit run at once.',
    unit: 'lanes',
    default: 1,
  }),
  capacity: whole(1, 10_000, {
    sentence: 'How many visits may be in flight at once.',
    unit: 'visits',
    default: 40,
  }),
  maxVisitSeconds: decimal(0.1, 600, {
    sentence: 'How long a visit is expected to take at most, by the measured duration of its jobs.',
    unit: 'seconds',
    default: 5,
  }),
  spreadSeconds: decimal(0, 60, {
    sentence: 'Visits expected to be shorter than this are not split to fill free slots.',
    unit: 'seconds',
    default: 1,
  }),
  leaseSeconds: whole(5, 900, {
    sentence: 'Life of a lease between two renewals: how long the jobs of a killed worker stay away.',
    unit: 'seconds',
    default: 60,
  }),
  openSeconds: whole(2, 60, {
    sentence: 'How long a lease waits for its invocation before its jobs go back.',
    unit: 'seconds',
    default: 20,
  }),
  unopenedLimit: whole(1, 10_000, {
    sentence: 'Leases that may stay unopened for 2 s before nothing new is claimed.',
    unit: 'leases',
    default: { words: 'max(2, 10 % of `capacity`)', from: (known) => Math.max(2, Math.ceil(known.capacity / 10)) },
  }),
  jobTimeoutSeconds: whole(1, 885, {
    sentence: 'Time a job gets that names none itself; then its signal is aborted and it has failed.',
    unit: 'seconds',
    default: 60,
  }),
  processTimeoutSeconds: whole(30, 900, {
    sentence:
      'Timeout of the processing function; bounds the longest job, and how long one invocation goes on to further visits.',
    unit: 'seconds',
    default: 300,
  }),
  retry: {
    maxAttempts: whole(1, 100, {
      sentence: 'Attempts a job gets that names no number itself.',
      unit: 'attempts',
      default: 5,
    }),
    baseSeconds: decimal(0.01, 3_600, {
      sentence: 'Upper bound of the first wait before a retry; doubles with every attempt.',
      unit: 'seconds',
      default: 2,
    }),
    capSeconds: decimal(0.01, 604_800, {
      sentence: 'No wait before a retry is longer.',
      unit: 'seconds',
      default: 600,
    }),
  },
  deadLetters: whole(0, 100_000, {
    sentence: 'Dead letters kept for a tenant; beyond it the oldest is dropped and counted.',
    unit: 'jobs',
    default: 1_000,
  }),
  idempotencySeconds: whole(60, 2_592_000, {
    sentence: 'How long an idempotency key is remembered.',
    unit: 'seconds',
    default: 86_400,
  }),
  purgeSeconds: whole(90, 86_400, {
    // Shorter than one and a half of monitor's minutes, a tenant could vanish between two readings.
    sentence: 'How long a tenant with nothing left stays in Redis, so that its last counts are read.',
    unit: 'seconds',
    default: 120,
  }),
  deployVersion: whole(1, Number.MAX_SAFE_INTEGER, {
    sentence: 'Of two configurations in Redis the higher version stays, so that an old function cannot undo a deploy.',
    unit: 'seconds',
    default: { words: 'time of the synth', from: (known) => known.nowSeconds },
  }),
  webhook: {
    allowedHosts: list(host, 'a list of lowercase host or host:port, an IPv6 address in brackets', {
      sentence: 'Hosts that jobs of type `webhook` may call; a host without a port allows every port.',
      default: [],
    }),
    signingSecret: text(
      /^((?!whsec_)[\w/+=.@-]{1,512}|arn:[\w-]+:secretsmanager:[\w/+=.@:-]{1,600})?$/,
      'the name or ARN of a secret, not a key itself: it would stand in the template',
      {
        sentence:
          'Secret in Secrets Manager with the keys that webhooks are signed with, `whsec_` and base64 each, commas between; empty when they are not signed.',
        // Not to be shown where a key was given by mistake.
        secret: true,
        default: '',
      },
    ),
  },
  auth: {
    api: oneOf(['iam', 'jwt'], {
      sentence: 'Who may call the API: AWS identities with permission, or bearers of a token.',
      default: 'iam',
    }),
    jwt: {
      issuer: text(/^(https?:\/\/[^\s?#]+)?$/, 'the URL of a token issuer', {
        sentence: 'Issuer of the tokens; needed when `auth.api` is `jwt`.',
        default: '',
      }),
      audience: list(/^[^\s,]+$/, 'a list of audiences without white space', {
        sentence: 'Audiences of which a token must name one; needed when `auth.api` is `jwt`.',
        default: [],
      }),
      tenantClaim: text(/^[^\s]{1,128}$/, 'the name of a claim', {
        sentence: 'Claim that says which tenant the caller is.',
        default: 'tenant',
      }),
      planClaim: text(/^[^\s]{0,128}$/, 'the name of a claim, or nothing', {
        sentence: "Claim that says which plan the caller's tenant is on; empty when none does.",
        default: '',
      }),
      scopes: {
        enqueue: list(/^[^\s,]+$/, 'a list of scopes without white space', {
          sentence: 'Scopes of which a token must hold one to enqueue and no more.',
          default: ['rota/enqueue'],
        }),
        operate: list(/^[^\s,]+$/, 'a list of scopes without white space', {
          sentence:
            'Scopes of which a token must hold one to read and change tenants and the queue; good for enqueueing as well.',
          default: ['rota/operate'],
        }),
      },
    },
  },
};

export type FunctionSettings = Values<typeof functionTable>;

export type { GivenSettings, Settings } from './stack-table.ts';

/** What only the stack can know: where the cache is. Never set by the user. */
export const wiringTable = {
  redis: {
    url: text(/^rediss?:\/\/([a-z0-9-]+@)?[^\s@/]+:\d+$/, 'redis:// or rediss://, perhaps user@, then host:port', {
      sentence: 'Where Redis is, as whom to connect, and whether by TLS.',
    }),
    cluster: flag({ sentence: 'Whether the server runs in cluster mode.' }),
    auth: oneOf(['iam', 'password', 'none'], {
      sentence: 'Whether the password is a signed token of the function, kept as a secret, or there is none.',
    }),
    name: text(/^[A-Za-z0-9-]*$/, 'the id of the replication group', {
      sentence: 'Name for which the token is signed.',
    }),
    secret: text(/^\S*$/, 'the ARN of a secret, or nothing', {
      sentence: 'Secret that holds the password, where it is kept as one.',
    }),
  },
  shard: whole(0, 0, { sentence: 'Part of the keys; there is one shard so far.' }),
  metricsName: text(/^[a-z0-9-]+$/, 'lowercase letters, digits and hyphens', {
    sentence: 'Name of the queue in metrics: another queue of the account may have the same `queue`.',
  }),
};

/** Functions that others invoke, each handed only to those that may. */
export const linkTable = {
  dispatchFunction: text(/^[^\s]+$/, 'the name of a function', {
    sentence: 'Function to wake when no dispatcher lives.',
  }),
  processFunction: text(/^[^\s]+$/, 'the name of a function', { sentence: 'Function that a visit is given to.' }),
  // Not imported by the function that checks them: the handlers, with all that they import, would come along.
  webhookKeys: list(
    /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
    'whsec_ and 24 to 64 bytes in base64, commas between several',
    {
      sentence: 'Keys that webhooks are signed with.',
      secret: true,
    },
  ),
  jobTypes: list(/^[\w.-]{1,64}$/, 'a list of job types', { sentence: 'Job types that there is a handler for.' }),
};
