import { Duration, SecretValue, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { toEnv } from '../../functions/lib/config/env.ts';
import type { Settings } from '../../functions/lib/config/table.ts';
import { bundle, jobTypesOf } from '../bundling.ts';
import type { Cache } from './cache.ts';
import { makeLogGroup } from './log-group.ts';
import type { QueueNames } from './names.ts';
import type { Network } from './network.ts';

/** What runs the jobs of a queue. */
export interface Processor {
  /**
   * Absolute path of a module that exports `jobs`, an object of job types and the modules of their handlers, as
   * `functions/process/jobs/index.ts` does. It is bundled into the function `process`, which opens, renews and settles the leases;
   * a handler knows of its job only. Enqueue takes these types and no others.
   */
  readonly entry: string;
  /**
   * Further environment variables of the function, for the handlers. None may begin with `ROTA_` or `AWS_`.
   *
   * @default none
   */
  readonly environment?: Readonly<Record<string, string>>;
}

interface FunctionsProps {
  readonly processor?: Processor;
  readonly settings: Settings;
  readonly names: QueueNames;
  readonly network: Network;
  readonly cache: Cache;
}

export type FunctionName = keyof Settings['memory'];

interface Spec {
  readonly description: string;
  readonly timeoutSeconds: (settings: Settings) => number;
  /** Others hand it events without waiting: a failed or late event is then dropped, since Redis knows better what is due. */
  readonly asynchronous: boolean;
  /** Calls hosts outside the network. */
  readonly callsOut: boolean;
}

const specs: Readonly<Record<FunctionName, Spec>> = {
  process: {
    description: 'Runs the jobs of a visit',
    timeoutSeconds: (settings) => settings.processTimeoutSeconds,
    asynchronous: true,
    callsOut: true,
  },
  dispatch: {
    description: 'Claims visits and hands them to process',
    // Loops for 65 s, then has to finish what it has begun.
    timeoutSeconds: () => 90,
    asynchronous: true,
    callsOut: false,
  },
  enqueue: {
    description: 'Admits jobs',
    timeoutSeconds: () => 10,
    asynchronous: false,
    callsOut: false,
  },
  tenants: {
    description: 'Shows and changes tenants and the queue',
    // The gateway waits for 30 s.
    timeoutSeconds: () => 29,
    asynchronous: false,
    callsOut: false,
  },
  monitor: {
    description: 'Reports the state of the queue',
    // Less than the minute until the next one.
    timeoutSeconds: () => 55,
    asynchronous: true,
    callsOut: false,
  },
};

/** Visits that Lambda runs at once: above the capacity that Redis keeps, so that an event is not left waiting in Lambda. */
const reservedConcurrency = (capacity: number): number => capacity + Math.max(2, Math.ceil(capacity / 4));

const WRITE_LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents'];

const networkInterfaces = {
  actions: [
    'ec2:CreateNetworkInterface',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSubnets',
    'ec2:DeleteNetworkInterface',
    'ec2:AssignPrivateIpAddresses',
    'ec2:UnassignPrivateIpAddresses',
  ],
  resources: ['*'],
};

/**
 * What the service needs to attach a function to a network. It acts with the function's role: so that the code of the
 * function cannot do the same, calls that come from it are denied.
 */
const attachToNetwork = [
  new iam.PolicyStatement(networkInterfaces),
  new iam.PolicyStatement({
    ...networkInterfaces,
    effect: iam.Effect.DENY,
    conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
  }),
];

/** The keys of webhooks, for who runs them. The template has the name of the secret; deploying puts its value in. */
const webhookKeys = ({ webhook }: Settings) =>
  webhook.signingSecret === ''
    ? {}
    : { webhookKeys: [SecretValue.secretsManager(webhook.signingSecret).unsafeUnwrap()] };

/** Who is invoked, under the name by which the function finds it in its environment. */
interface Invokes {
  readonly processFunction?: lambda.Function;
  readonly dispatchFunction?: lambda.Function;
}

type FunctionRecord = Readonly<Record<FunctionName, lambda.Function>>;

/** The functions of the queue, each with its own role and log group. */
export class Functions extends Construct implements FunctionRecord {
  readonly process: lambda.Function;
  readonly dispatch: lambda.Function;
  readonly enqueue: lambda.Function;
  readonly tenants: lambda.Function;
  readonly monitor: lambda.Function;
  private readonly props: FunctionsProps;
  private readonly jobTypes: readonly string[];

  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id);
    this.props = props;
    const { entry, environment = {} } = props.processor ?? {};
    this.jobTypes = jobTypesOf(entry);
    const reserved = Object.keys(environment).filter((variable) => /^(ROTA|AWS)_/.test(variable));
    if (reserved.length > 0) {
      throw new Error(
        `processor.environment has ${reserved.join(', ')}; names that begin with ROTA_ or AWS_ are taken`,
      );
    }
    // What a function invokes is made before it, and can be nothing else: no circle of invocations can arise.
    this.process = this.add('process');
    this.dispatch = this.add('dispatch', { processFunction: this.process });
    this.enqueue = this.add('enqueue', { dispatchFunction: this.dispatch });
    this.tenants = this.add('tenants', { dispatchFunction: this.dispatch });
    this.monitor = this.add('monitor');
  }

  private add(name: FunctionName, invokes: Invokes = {}): lambda.Function {
    const { settings, names, network, cache, processor } = this.props;
    const spec = specs[name];
    const scope = new Construct(this, `${name[0]?.toUpperCase()}${name.slice(1)}`);
    const targets = Object.values(invokes);
    const links = Object.fromEntries(Object.entries(invokes).map(([link, target]) => [link, target.functionName]));

    const logGroup = makeLogGroup(scope, 'Logs', {
      settings,
      logGroupName: `/rota/${names.full}/${name}`,
    });
    const role = new iam.Role(scope, 'Role', {
      description: `Function ${name} of the Rota queue ${settings.queue}`,
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
    });
    for (const statement of attachToNetwork) role.addToPolicy(statement);
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'Lambda attaches the function to the network with this role, by actions that it wants on every resource; calls of them by the code of the function are denied.',
    });
    role.addToPolicy(cache.connectStatement());
    role.addToPolicy(new iam.PolicyStatement({ actions: WRITE_LOGS, resources: [logGroup.logGroupArn] }));
    if (targets.length > 0) {
      role.addToPolicy(
        new iam.PolicyStatement({
          actions: ['lambda:InvokeFunction'],
          resources: targets.map((target) => target.functionArn),
        }),
      );
    }

    const callsAws = targets.length > 0 || settings.redisAuth === 'password';
    const leaves = spec.callsOut || (callsAws && settings.endpoint === 'none');
    const made = new lambda.Function(scope, 'Function', {
      description: spec.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      code: bundle(name, name === 'process' ? processor?.entry : undefined),
      memorySize: settings.memory[name],
      timeout: Duration.seconds(spec.timeoutSeconds(settings)),
      role,
      logGroup,
      vpc: network.vpc,
      vpcSubnets: network.functionSubnets,
      securityGroups: [network.functionsGroup, ...(leaves && network.egressGroup ? [network.egressGroup] : [])],
      ipv6AllowedForDualStack: settings.egress === 'ipv6',
      reservedConcurrentExecutions:
        name === 'process' && settings.reserveConcurrency ? reservedConcurrency(settings.capacity) : undefined,
      ...(spec.asynchronous && { retryAttempts: 0, maxEventAge: Duration.seconds(60) }),
      environment: {
        ...(name === 'process' && processor?.environment),
        ...toEnv(settings, {
          redis: cache.connection,
          shard: 0,
          metricsName: names.full,
          jobTypes: this.jobTypes,
          ...(name === 'process' && webhookKeys(settings)),
          ...links,
        }),
        ...(network.dualStackCalls && { AWS_USE_DUALSTACK_ENDPOINT: 'true' }),
      },
    });
    acknowledgeFindings(made, spec);
    return made;
  }
}

function acknowledgeFindings(made: lambda.Function, { asynchronous }: Spec): void {
  Validations.of(made).acknowledge(
    {
      id: 'Serverless-LambdaTracing',
      reason:
        "A trace of each invocation bills by the invocation and ends where a job waits in Redis; the job carries the producer's traceparent to its handler instead.",
    },
    {
      id: 'Serverless-LambdaDLQ',
      reason: asynchronous
        ? 'An event holds no work: jobs and leases are in Redis, which gives them out again when an event is lost; replaying a stale one would do nothing.'
        : 'The gateway and direct callers wait for the answer of this function, and repeat a request that got none.',
    },
  );
  if (!asynchronous) return;
  Validations.of(made).acknowledge({
    id: 'Serverless-LambdaAsyncFailureDestination',
    reason:
      'A failed or late event is dropped on purpose, since Redis says what is due; alarms tell of events that wait or are dropped.',
  });
}
