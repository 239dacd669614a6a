import type { Fault } from './faults.ts';
import type { Settings } from './table.ts';

/** Time that `process` keeps for itself beyond its longest job: opening, the last settle, giving back the rest. Seconds. */
const PROCESS_MARGIN_SECONDS = 15;

const DURABLE_NODES = /^cache\.([rm][678]g|c[78]gn)\./;

/** The longest timeout a job may ask for, in seconds. */
export const longestJobSeconds = (settings: Pick<Settings, 'processTimeoutSeconds'>): number =>
  settings.processTimeoutSeconds - PROCESS_MARGIN_SECONDS;

/** What must hold between settings that are each fine alone. */
interface Relation {
  /** The path to name in the fault; then the others that take part. */
  readonly over: readonly [string, ...string[]];
  /** `local`: the result runs on one machine, where jobs reach their hosts without the network of the stack. */
  readonly holds: (settings: Settings, local: boolean) => boolean;
  readonly given: (settings: Settings) => unknown;
  readonly expected: (settings: Settings) => string;
}

const jwt = (
  path: string,
  given: (settings: Settings) => unknown,
  filled: (settings: Settings) => boolean,
  expected: string,
) => ({
  over: [path, 'auth.api'] as const,
  holds: (settings: Settings) => settings.auth.api !== 'jwt' || filled(settings),
  given,
  expected: () => `${expected}, since auth.api is jwt`,
});

const durable = (
  path: string,
  given: (settings: Settings) => unknown,
  holds: (settings: Settings) => boolean,
  expected: string,
) => ({
  over: [path, 'durability'] as const,
  holds: (settings: Settings) => settings.durability === 'none' || holds(settings),
  given,
  expected: (settings: Settings) => `${expected}, since durability is ${settings.durability}`,
});

const relations: readonly Relation[] = [
  {
    over: ['defaultPlan', 'plans'],
    holds: (s) => Object.hasOwn(s.plans, s.defaultPlan),
    given: (s) => s.defaultPlan,
    expected: (s) => `one of the plans ${Object.keys(s.plans).join(', ')}`,
  },
  {
    over: ['jobTimeoutSeconds', 'processTimeoutSeconds'],
    holds: (s) => s.jobTimeoutSeconds <= longestJobSeconds(s),
    given: (s) => s.jobTimeoutSeconds,
    expected: (s) =>
      `at most ${longestJobSeconds(s)}: processTimeoutSeconds less a margin of ${PROCESS_MARGIN_SECONDS}`,
  },
  {
    over: ['maxVisitSeconds', 'processTimeoutSeconds'],
    holds: (s) => s.maxVisitSeconds <= longestJobSeconds(s),
    given: (s) => s.maxVisitSeconds,
    expected: (s) =>
      `at most ${longestJobSeconds(s)}: processTimeoutSeconds less a margin of ${PROCESS_MARGIN_SECONDS}`,
  },
  {
    over: ['unopenedLimit', 'capacity'],
    holds: (s) => s.unopenedLimit <= Math.max(2, s.capacity),
    given: (s) => s.unopenedLimit,
    expected: (s) => `at most capacity (${s.capacity}), or it bounds nothing`,
  },
  {
    over: ['retry.baseSeconds', 'retry.capSeconds'],
    holds: (s) => s.retry.baseSeconds <= s.retry.capSeconds,
    given: (s) => s.retry.baseSeconds,
    expected: (s) => `at most retry.capSeconds (${s.retry.capSeconds})`,
  },
  {
    over: ['webhook.allowedHosts', 'egress'],
    holds: (s, local) => s.webhook.allowedHosts.length === 0 || s.egress !== 'none' || local,
    given: (s) => s.webhook.allowedHosts,
    expected: () => 'an empty list, or egress set to ipv6 or nat: without it no job can reach a host',
  },
  {
    over: ['endpoint', 'egress'],
    holds: (s) => s.endpoint !== 'none' || s.egress !== 'none',
    given: (s) => s.endpoint,
    expected: () => 'create or existing, or egress set to ipv6 or nat: dispatch has to reach the Lambda service',
  },
  jwt(
    'auth.jwt.issuer',
    (s) => s.auth.jwt.issuer,
    (s) => s.auth.jwt.issuer !== '',
    'the URL of a token issuer',
  ),
  jwt(
    'auth.jwt.audience',
    (s) => s.auth.jwt.audience,
    (s) => s.auth.jwt.audience.length > 0,
    'at least one audience',
  ),
  // A route without a scope takes every token of the issuer, so that any tenant could operate all the others.
  jwt(
    'auth.jwt.scopes.enqueue',
    (s) => s.auth.jwt.scopes.enqueue,
    (s) => s.auth.jwt.scopes.enqueue.length > 0,
    'at least one scope',
  ),
  jwt(
    'auth.jwt.scopes.operate',
    (s) => s.auth.jwt.scopes.operate,
    (s) => s.auth.jwt.scopes.operate.length > 0,
    'at least one scope',
  ),
  {
    over: ['trustedAccounts.operate', 'auth.api'],
    holds: (s) => s.trustedAccounts.operate.length === 0 || s.auth.api === 'iam',
    given: (s) => s.trustedAccounts.operate,
    expected: () => 'an empty list, since auth.api is jwt: a scope of the token says who operates',
  },
  durable(
    'engine',
    (s) => s.engine,
    (s) => s.engine === 'valkey',
    'valkey',
  ),
  durable(
    'replicas',
    (s) => s.replicas,
    (s) => s.replicas >= 1,
    'at least 1',
  ),
  durable(
    'nodeType',
    (s) => s.nodeType,
    (s) => DURABLE_NODES.test(s.nodeType),
    'a node type of the families r6g to r8g, m6g to m8g, c7gn or c8gn',
  ),
];

/**
 * The relations that do not hold.
 *
 * @param faulty paths already known to be wrong: a relation with one of them says nothing that could be trusted.
 */
export function relationFaults(settings: Settings, local: boolean, faulty: readonly string[]): Fault[] {
  const touches = (path: string) => faulty.some((bad) => bad === path || bad.startsWith(`${path}.`));
  return relations
    .filter((relation) => !relation.over.some(touches) && !relation.holds(settings, local))
    .map((relation) => ({
      path: relation.over[0],
      given: relation.given(settings),
      expected: relation.expected(settings),
    }));
}
