import { type Access, permissionsFor } from '../lib/lambda/route.ts';

/** The scopes as the settings have them by default. */
const scopes: Readonly<Record<Access, string>> = { enqueue: 'rota/enqueue', operate: 'rota/operate' };

/** Both ways in which callers can be known; a deployment has one of them, by the setting `auth.api`. */
export const securitySchemes = {
  iam: {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    'x-amazon-apigateway-authtype': 'awsSigv4',
    description:
      'Setting `auth.api` `iam`: the request is signed with AWS Signature Version 4 for the service `execute-api`, by an identity with the permission `execute-api:Invoke` for the route.',
  },
  jwt: {
    type: 'oauth2',
    description:
      'Setting `auth.api` `jwt`: a bearer token of the issuer `auth.jwt.issuer`, whose token endpoint takes the place of the one here, for one of the audiences `auth.jwt.audience`. The settings `auth.jwt.scopes` may name other scopes.',
    flows: {
      clientCredentials: {
        tokenUrl: 'https://issuer.example/oauth2/token',
        scopes: {
          [scopes.enqueue]: 'Hand in jobs of the tenant that the token names, and ask whether the queue is well.',
          [scopes.operate]: 'Look after tenants and the queue, and all of the above.',
        },
      },
    },
  },
};

/** One of these lets a caller in. */
export const securityOf = (access: Access) => [
  { iam: [] },
  ...permissionsFor[access].map((permission) => ({ jwt: [scopes[permission]] })),
];
