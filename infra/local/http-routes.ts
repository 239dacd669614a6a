import { isObject, type Template, textOf } from './template.ts';

/** How a route's callers prove who they are. */
export type Authorization =
  | { type: 'none' }
  | { type: 'iam' }
  | { type: 'jwt'; issuer: string; audience: string[]; scopes: string[] };

export interface Route {
  /** As the template writes it: `POST /v1/jobs`, or `$default`. */
  key: string;
  /** The API that it is a route of. */
  apiId: string;
  /** The ARN that the gateway gives as the source of its invocations. */
  source: string;
  method: string;
  /** Path segments: a literal, `{name}` or `{name+}`. */
  segments: string[];
  /** The ARN of the function that serves it. */
  target: string;
  authorization: Authorization;
}

export interface RouteMatch {
  route: Route;
  /** Path parameters, decoded. */
  parameters: Record<string, string>;
}

/** The API's limits on callers: requests a second, and how many at once above that. */
export interface Throttle {
  ratePerSecond: number;
  burst: number;
}

/**
 * The routes of the template's HTTP API.
 *
 * @throws Error naming the route when it lacks an integration or an authorizer that works here.
 */
export function readRoutes(template: Template): Route[] {
  const { region, accountId } = template.deployment;
  return template.resources('AWS::ApiGatewayV2::Route').map(({ id, properties }) => {
    const key = textOf(properties.RouteKey);
    const [method = '', path = ''] = key.split(' ');
    const integrationId = textOf(properties.Target).replace('integrations/', '');
    const integration = template.resource(integrationId).properties;
    const version = textOf(integration.PayloadFormatVersion);
    if (integration.IntegrationType !== 'AWS_PROXY' || version !== '2.0') {
      throw new Error(
        `Route ${id} (${key}): the local runner serves AWS_PROXY integrations with payload format 2.0 only`,
      );
    }
    // Either a plain ARN or API Gateway's own ARN around it.
    const uri = textOf(integration.IntegrationUri);
    const target = /functions\/(arn:[^/]+)\/invocations$/.exec(uri)?.[1] ?? uri;
    const segments = key === '$default' ? [] : path.split('/').slice(1);
    const apiId = textOf(properties.ApiId);
    const source = `arn:aws:execute-api:${region}:${accountId}:${apiId}/$default/${key.replace(' /', '/')}`;
    return { key, apiId, source, method, segments, target, authorization: authorizationOf(template, id, properties) };
  });
}

function authorizationOf(template: Template, id: string, properties: Record<string, unknown>): Authorization {
  const type = textOf(properties.AuthorizationType) || 'NONE';
  if (type === 'NONE') return { type: 'none' };
  if (type === 'AWS_IAM') return { type: 'iam' };
  if (type !== 'JWT') throw new Error(`Route ${id}: the local runner does not know authorization type ${type}`);
  const authorizer = template.resource(textOf(properties.AuthorizerId)).properties;
  const configuration = isObject(authorizer.JwtConfiguration) ? authorizer.JwtConfiguration : {};
  return {
    type: 'jwt',
    issuer: textOf(configuration.Issuer),
    audience: textsOf(configuration.Audience),
    scopes: textsOf(properties.AuthorizationScopes),
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** The throttle of an API's stage, where the template sets one. */
export function readThrottle(template: Template, apiId: string | undefined): Throttle | undefined {
  const stages = template.resources('AWS::ApiGatewayV2::Stage');
  const settings = stages.find(({ properties }) => textOf(properties.ApiId) === apiId)?.properties.DefaultRouteSettings;
  if (!isObject(settings) || settings.ThrottlingRateLimit === undefined) return undefined;
  const ratePerSecond = Number(settings.ThrottlingRateLimit);
  return { ratePerSecond, burst: Number(settings.ThrottlingBurstLimit ?? ratePerSecond) };
}

/** The most specific route for a method and a decoded path: literals before parameters before greedy ones, then `$default`. */
export function matchRoute(routes: Route[], method: string, path: string): RouteMatch | undefined {
  const parts = path.split('/').slice(1);
  const matches = routes.flatMap((route) => {
    if (route.key === '$default' || (route.method !== method && route.method !== 'ANY')) return [];
    const parameters = matchSegments(route.segments, parts);
    return parameters ? [{ route, parameters }] : [];
  });
  const [best] = matches.toSorted((a, b) => rank(b.route).localeCompare(rank(a.route)));
  if (best) return best;
  const fallback = routes.find(({ key }) => key === '$default');
  return fallback && { route: fallback, parameters: {} };
}

/** One digit a segment, larger for the more specific, and at last whether the method is named. */
function rank(route: Route): string {
  const digits = route.segments.map((segment) => (segment.endsWith('+}') ? '1' : segment.startsWith('{') ? '2' : '3'));
  return `${digits.join('')}${route.method === 'ANY' ? '0' : '1'}`;
}

function matchSegments(segments: string[], parts: string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const greedy = segment.endsWith('+}');
    const part = greedy ? parts.slice(index).join('/') : parts[index];
    if (part === undefined) return undefined;
    if (!segment.startsWith('{')) {
      if (segment !== part) return undefined;
      continue;
    }
    if (part === '') return undefined;
    parameters[segment.slice(1, greedy ? -2 : -1)] = part;
    if (greedy) return parameters;
  }
  return segments.length === parts.length ? parameters : undefined;
}
