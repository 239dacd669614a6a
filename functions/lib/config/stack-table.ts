import { flag, type GivenValues, list, oneOf, oneOfNumbers, text, type Values, whole } from './setting.ts';
import { functionTable } from './table.ts';

/** Settings that are used up when the template is made; in a file of their own, so that no bundle holds them. */
const stackTable = {
  engine: oneOf(['redis', 'valkey'], {
    sentence: 'Engine of the cache. Another one makes a new and empty cache.',
    default: 'redis',
  }),
  nodeType: text(/^cache\.[a-z0-9]+\.[a-z0-9]+$/, 'a cache node type such as cache.m7g.large', {
    sentence: 'Node type of the cache.',
    default: 'cache.t4g.small',
  }),
  replicas: whole(0, 5, {
    sentence:
      'Replicas of the cache, in other zones; with none, a failed node loses the queue. Another number makes a new and empty cache.',
    unit: 'nodes',
    default: 1,
  }),
  redisAuth: oneOf(['iam', 'password'], {
    sentence:
      'How functions prove to the cache who they are: by tokens signed anew for each connection, or by a password that is made and kept in Secrets Manager.',
    default: 'iam',
  }),
  durability: oneOf(['none', 'async', 'sync'], {
    sentence: "The cache's own write log: sync loses no acknowledged write, async up to 10 s of them.",
    default: 'none',
  }),
  restoreFrom: text(
    /^([A-Za-z](-?[A-Za-z0-9.:])*){0,1}$/,
    'the name of a snapshot: a letter, then letters, digits and single hyphens; or nothing',
    {
      sentence: 'Snapshot that a new cache begins with; to be kept, since a change of it replaces the cache.',
      default: '',
    },
  ),
  reserveConcurrency: flag({
    sentence:
      "Reserves concurrency for processing, a little above `capacity`; off where the account's quota is too small.",
    default: true,
  }),
  egress: oneOf(['none', 'ipv6', 'nat'], {
    sentence: 'Way out of the network for jobs that call others.',
    default: 'none',
  }),
  endpoint: oneOf(['create', 'existing', 'none'], {
    sentence:
      "Private endpoint for invoking functions: a new one, the given network's own (with private DNS), or none where there is egress.",
    default: 'create',
  }),
  throttle: {
    // A request may bring 500 jobs and takes about 20 ms of a function: this is what 20 environments answer, and a
    // fiftieth of the account's default concurrency of 1,000, of which other functions live as well.
    ratePerSecond: whole(1, 100_000, {
      sentence: 'Requests that the API takes, all callers together; beyond it they get 429.',
      unit: 'requests a second',
      default: 1_000,
    }),
    burst: whole(1, 100_000, {
      sentence: 'Requests above that rate that the API takes at once.',
      unit: 'requests',
      default: 2_000,
    }),
  },
  trustedAccounts: {
    enqueue: list(/^\d{12}$/, 'a list of account numbers of 12 digits', {
      sentence: 'Other AWS accounts that get a role for enqueueing.',
      default: [],
    }),
    operate: list(/^\d{12}$/, 'a list of account numbers of 12 digits', {
      sentence: 'Other AWS accounts that get a role for every call.',
      default: [],
    }),
  },
  dashboard: flag({ sentence: 'Makes the CloudWatch dashboard of the queue.', default: true }),
  alarmEmail: text(/^([^\s@]+@[^\s@]+\.[^\s@]+)?$/, 'an e-mail address, or nothing', {
    sentence:
      'Address that alarms are sent to, once its owner has confirmed it; empty when the topic has other subscribers.',
    default: '',
  }),
  runbookUrl: text(/^(https?:\/\/\S+|(?!\w+:)\S+)$/, 'an http or https URL, or a path, without white space', {
    sentence: 'Where the runbook is found that the texts of the alarms point into.',
    default: 'infra/docs/runbook.md',
  }),
  logRetentionDays: oneOfNumbers([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731], {
    sentence: 'How long logs are kept.',
    unit: 'days',
    default: 30,
  }),
  memory: {
    enqueue: whole(128, 10_240, { sentence: 'Memory of `enqueue`.', unit: 'MB', default: 512 }),
    // Up as long as there is work: infra/docs/sizing.md has what half of this, and twice, would do.
    dispatch: whole(128, 10_240, { sentence: 'Memory of `dispatch`.', unit: 'MB', default: 512 }),
    process: whole(128, 10_240, { sentence: 'Memory of `process`.', unit: 'MB', default: 512 }),
    monitor: whole(128, 10_240, { sentence: 'Memory of `monitor`.', unit: 'MB', default: 512 }),
    tenants: whole(128, 10_240, { sentence: 'Memory of `tenants`.', unit: 'MB', default: 512 }),
  },
};

/** Every setting of a queue: the one place that knows its path, meaning, unit, range and default. */
export const table = { ...functionTable, ...stackTable };

export type Settings = Values<typeof table>;

/** What a user states of the settings: those that differ from the defaults. */
export type GivenSettings = GivenValues<typeof table>;
