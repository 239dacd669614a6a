import type { Context } from 'aws-lambda';
import { type Route, routeKey } from '../../functions/lib/lambda/route.ts';

interface Given {
  /** JSON unless it is text already. */
  readonly body?: unknown;
  readonly base64?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

export const REQUEST_ID = 'JKJaXmPLvHcESHA=';

/** What API Gateway hands a function for a request, as far as a handler may look at it. */
export function httpEvent(route: Pick<Route, 'method' | 'path'>, given: Given = {}) {
  const { body, base64 = false, headers = {}, params, query, claims } = given;
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return {
    version: '2.0',
    routeKey: routeKey(route),
    headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(params && { pathParameters: params }),
    ...(query && { queryStringParameters: query }),
    requestContext: {
      http: { method: route.method },
      requestId: REQUEST_ID,
      ...(claims && { authorizer: { jwt: { claims, scopes: null } } }),
    },
    ...(text !== undefined && { body: text }),
    isBase64Encoded: base64,
  };
}

/** The part of Lambda's context that handlers use. */
export const invocation = (remainingMs = 10_000): Context => {
  const endsMs = performance.now() + remainingMs;
  // The rest is of no use to anyone here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return {
    awsRequestId: 'd7c6c0e3-6a0d-4a3c-9d39-4e1a7b5d2c11',
    getRemainingTimeInMillis: () => endsMs - performance.now(),
  } as Context;
};
