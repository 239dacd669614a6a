import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';
import type { Functions } from './functions.ts';

interface ApiProps {
  readonly settings: Pick<Settings, 'queue' | 'auth'>;
  readonly functions: Functions;
}

const routes: readonly {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  function: 'enqueue' | 'tenants';
  access: 'produce' | 'operate';
}[] = [
  { method: 'POST', path: '/v1/jobs', function: 'enqueue', access: 'produce' },
  { method: 'GET', path: '/v1/tenants', function: 'tenants', access: 'operate' },
  { method: 'GET', path: '/v1/tenants/{tenant}', function: 'tenants', access: 'operate' },
  { method: 'PUT', path: '/v1/tenants/{tenant}', function: 'tenants', access: 'operate' },
  { method: 'DELETE', path: '/v1/tenants/{tenant}', function: 'tenants', access: 'operate' },
  { method: 'POST', path: '/v1/tenants/{tenant}/pause', function: 'tenants', access: 'operate' },
  { method: 'POST', path: '/v1/tenants/{tenant}/resume', function: 'tenants', access: 'operate' },
  { method: 'GET', path: '/v1/queue', function: 'tenants', access: 'operate' },
];

/** The HTTP contract: one route for each entry of the route table, none without an authorizer. */
export class Api extends Construct {
  readonly url: string;

  constructor(scope: Construct, id: string, { settings: { queue, auth }, functions }: ApiProps) {
    super(scope, id);
    const api = new apigateway.HttpApi(this, 'HttpApi', {
      apiName: `rota-${queue}`,
      description: `Rota queue ${queue}`,
    });
    this.url = api.apiEndpoint;

    // One permission for a function, not one for each of its routes: twenty would come near the limit of its policy.
    const integrate = (name: 'enqueue' | 'tenants') =>
      new HttpLambdaIntegration(`${name}Integration`, functions[name], { scopePermissionToRoute: false });
    const integrations = { enqueue: integrate('enqueue'), tenants: integrate('tenants') };
    const jwt = auth.api === 'jwt';
    const authorizer = jwt
      ? new HttpJwtAuthorizer('Jwt', auth.jwt.issuer, { jwtAudience: [...auth.jwt.audience] })
      : new HttpIamAuthorizer();
    for (const route of routes) {
      api.addRoutes({
        path: route.path,
        methods: [apigateway.HttpMethod[route.method]],
        integration: integrations[route.function],
        authorizer,
        authorizationScopes: jwt ? [...auth.jwt.scopes[route.access]] : undefined,
      });
    }
  }
}
