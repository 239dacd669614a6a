import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import { routes } from '../../functions/contract/routes.ts';
import type { Settings } from '../../functions/lib/config/table.ts';
import type { Functions } from './functions.ts';

interface ApiProps {
  readonly settings: Pick<Settings, 'queue' | 'auth'>;
  readonly functions: Functions;
}

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
