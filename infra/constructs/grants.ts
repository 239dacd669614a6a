import { CfnElement, Stack, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { routes } from '../../functions/contract/routes.ts';
import type { Access } from '../../functions/lib/lambda/route.ts';
import type { Settings } from '../../functions/lib/config/table.ts';
import type { Api } from './api.ts';
import type { Functions } from './functions.ts';

interface AccessProps {
  readonly settings: Pick<Settings, 'queue' | 'auth' | 'trustedAccounts'>;
  readonly api: Api;
  readonly functions: Functions;
}

/** Who may take on a role for callers outside this account. */
export interface Trust {
  /** Accounts, of 12 digits each, whose administrators decide who of them takes on the role. */
  readonly accounts: readonly string[];
  /**
   * A secret that whoever takes on the role has to name, for an account of somebody who calls for many others.
   *
   * @default none
   */
  readonly externalId?: string;
}

const CALL = 'execute-api:Invoke';

/** Who may call the queue, by IAM. */
export class Grants extends Construct {
  /** The roles of the accounts that the settings trust. */
  readonly roles: Partial<Readonly<Record<Access, iam.Role>>> = {};
  private readonly props: AccessProps;

  constructor(scope: Construct, id: string, props: AccessProps) {
    super(scope, id);
    this.props = props;
    const { enqueue, operate } = props.settings.trustedAccounts;
    const role = (name: string, access: Access, accounts: readonly string[]) =>
      accounts.length > 0 && { [access]: this.role(this, name, access, { accounts }) };
    this.roles = { ...role('Producers', 'enqueue', enqueue), ...role('Operators', 'operate', operate) };
  }

  /** Where the API knows its callers by IAM, by the routes of producers; and in any case by invoking the function itself. */
  enqueue(grantee: iam.IGrantable): iam.Grant {
    const { api, functions, settings } = this.props;
    const invoke = grant(grantee, 'lambda:InvokeFunction', functions.enqueue.functionArn);
    if (settings.auth.api !== 'iam') return invoke;
    return routes
      .filter(({ access }) => access === 'enqueue')
      .map(({ method, path }) => grant(grantee, CALL, api.httpApi.arnForExecuteApi(method, path)))
      .reduce((all, one) => all.combine(one), invoke);
  }

  /** @throws Error where the API knows its callers by token. */
  operate(grantee: iam.IGrantable): iam.Grant {
    const { api, settings } = this.props;
    if (settings.auth.api !== 'iam') {
      throw new Error(
        `auth.api is ${settings.auth.api}: operators are known by a scope of their token (${settings.auth.jwt.scopes.operate.join(', ')}), there is nothing to grant`,
      );
    }
    return grant(grantee, CALL, api.httpApi.arnForExecuteApi());
  }

  /** A role for callers of other accounts: the API has no policy of its own that could let them in. */
  role(scope: Construct, id: string, access: Access, { accounts, externalId }: Trust): iam.Role {
    const wrong = accounts.filter((account) => !/^\d{12}$/.test(account));
    if (accounts.length === 0 || wrong.length > 0) {
      throw new Error(
        `A role is for the accounts ${JSON.stringify(accounts)}; expected at least one, of 12 digits each`,
      );
    }
    const role = new iam.Role(scope, id, {
      description: `Callers of other accounts who call (${access}) the Rota queue ${this.props.settings.queue}`,
      assumedBy: new iam.CompositePrincipal(...accounts.map((account) => new iam.AccountPrincipal(account))),
      ...(externalId !== undefined && { externalIds: [externalId] }),
    });
    if (access === 'enqueue') this.enqueue(role);
    else this.operate(role);
    this.acknowledgeWildcards(role, access);
    return role;
  }

  /** Of the path that a route is called by, the stage is left open, and for operators method and path: all routes are theirs. */
  private acknowledgeWildcards(role: iam.Role, access: Access): void {
    const { api, settings } = this.props;
    const { defaultChild } = api.httpApi.node;
    if (settings.auth.api !== 'iam' || !(defaultChild instanceof CfnElement)) return;
    const suffixes =
      access === 'operate'
        ? ['*/*/*']
        : routes.filter((route) => route.access === 'enqueue').map(({ method, path }) => `*/${method}${path}`);
    const apiId = Stack.of(role).getLogicalId(defaultChild);
    for (const suffix of suffixes) {
      Validations.of(role).acknowledge({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<${apiId}>/${suffix}]`,
        reason:
          'The API of this queue has one stage, and whoever may take on the role is meant to call these routes of it.',
      });
    }
  }
}

function grant(grantee: iam.IGrantable, action: string, resource: string): iam.Grant {
  const granted = iam.Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [resource] });
  if (granted.success) return granted;
  throw new Error(
    `The grantee has no policy here that ${action} could be added to: grant to a role or user of this account, or make a role for callers of another with producerRole or operatorRole`,
  );
}
