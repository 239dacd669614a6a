import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { RouteMatch } from './http-routes.ts';
import { isObject, textOf } from './template.ts';

/** One request as the gateway sees it before it makes an event of it. */
export interface GatewayRequest {
  request: IncomingMessage;
  requestId: string;
  /** Decoded, without the query. */
  path: string;
  rawQueryString: string;
  body: Buffer;
}

/** A decoded path and its query, or undefined when the path is no valid percent-encoding. */
export function decodeTarget(url: string): { path: string; rawQueryString: string } | undefined {
  const [encoded = '/', ...query] = url.split('?');
  try {
    // The gateway decodes before it routes: an encoded slash separates, an encoded question mark ends the path.
    const [path = '/'] = decodeURIComponent(encoded).split('?');
    return { path, rawQueryString: query.join('?') };
  } catch {
    return undefined;
  }
}

/** The event of payload format 2.0 for a request. `authorizer` is what the authorizer adds to the request context. */
export function toEvent(
  { request, requestId, path, rawQueryString, body }: GatewayRequest,
  { route, parameters }: RouteMatch,
  apiId: string,
  authorizer: unknown,
): string {
  const headers = headersOf(request);
  const { cookie, ...others } = headers;
  const query = queryOf(rawQueryString);
  const now = new Date();
  const isBase64Encoded = body.length > 0 && !isText(headers);
  return JSON.stringify({
    version: '2.0',
    routeKey: route.key,
    rawPath: path,
    rawQueryString,
    ...(cookie && { cookies: cookie.split('; ') }),
    headers: others,
    ...(Object.keys(query).length > 0 && { queryStringParameters: query }),
    requestContext: {
      accountId: '000000000000',
      apiId,
      ...(authorizer !== undefined && { authorizer }),
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: {
        method: request.method,
        path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: '127.0.0.1',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: route.key,
      stage: '$default',
      time: gatewayTime(now),
      timeEpoch: now.getTime(),
    },
    ...(Object.keys(parameters).length > 0 && { pathParameters: parameters }),
    ...(body.length > 0 && { body: body.toString(isBase64Encoded ? 'base64' : 'utf8') }),
    isBase64Encoded,
  });
}

/** `30/Nov/2026:22:56:36 +0000` */
function gatewayTime(date: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(date.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${time} +0000`;
}

/** Names in lower case, several values joined by commas, with what the gateway adds. */
function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    headers[name] = values.join(name === 'cookie' ? '; ' : ',');
  }
  return {
    ...headers,
    'x-forwarded-for': [headers['x-forwarded-for'], '127.0.0.1'].filter(Boolean).join(', '),
    'x-forwarded-port': String(request.socket.localPort),
    'x-forwarded-proto': 'http',
  };
}

function queryOf(rawQueryString: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    query[name] = name in query ? `${query[name]},${value}` : value;
  }
  return query;
}

function isText(headers: Record<string, string>): boolean {
  if (headers['content-encoding']) return false;
  const type = headers['content-type'] ?? 'text/plain';
  return /^(text\/|application\/(json|javascript|xml)\b|application\/[\w.-]+\+(json|xml)\b)/i.test(type);
}

export interface GatewayResponse {
  status: number;
  headers: OutgoingHttpHeaders;
  body: Buffer;
}

/** What the gateway makes of a handler's answer, or undefined when the answer cannot be one. */
export function toResponse(payload: string): GatewayResponse | undefined {
  const answer: unknown = JSON.parse(payload);
  if (!isObject(answer) || answer.statusCode === undefined) {
    // Without a status code the whole answer is the body.
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(payload) };
  }
  const status = Number(answer.statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return undefined;
  const headers: OutgoingHttpHeaders = { 'content-type': 'text/plain;charset=utf-8' };
  for (const [name, value] of Object.entries(isObject(answer.headers) ? answer.headers : {})) {
    headers[name.toLowerCase()] = textOf(value);
  }
  if (Array.isArray(answer.cookies)) headers['set-cookie'] = answer.cookies.map(textOf);
  const text = textOf(answer.body);
  return { status, headers, body: Buffer.from(text, answer.isBase64Encoded === true ? 'base64' : 'utf8') };
}
