import type { APIGatewayProxyEventV2, APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';
import * as z from 'zod/mini';
import type { Route } from './route.ts';
import { REQUEST_MAX_BYTES } from '../domain/payload.ts';
import { type Fault, RequestProblem } from '../domain/problems.ts';
import { type Caller, callerOf } from './caller.ts';
import { FAULTS_MAX, faultsOf } from './faults.ts';

export type HttpEvent = APIGatewayProxyEventV2 | APIGatewayProxyEventV2WithJWTAuthorizer;

/** The claims of a caller's token, as API Gateway hands them on: all of them text. */
export type Claims = Readonly<Record<string, unknown>>;

/** A request that keeps to its route. */
export interface Call<Params = unknown, Query = unknown, Headers = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  /** The text that `body` was parsed from; absent when it came parsed, by a direct invoke. */
  readonly source: string | undefined;
  /** How the caller is known: by the claims of a token, or as someone whom AWS let through. */
  readonly claims: Claims | undefined;
  readonly caller: Caller;
  readonly direct: boolean;
  readonly requestId: string;
}

const nothing = z.strictObject({});

/** @throws RequestProblem 400 naming every fault. */
export function rejectFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const [first] = faults;
  const where = first?.path === '' ? `the ${first.in}` : `${first?.path}`;
  const others = faults.length === 1 ? '' : ` And ${faults.length - 1} more faults, see errors.`;
  throw new RequestProblem('invalid_request', `At ${where}: ${first?.detail}.${others}`, {
    errors: faults.slice(0, FAULTS_MAX),
  });
}

function requireJsonType(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (type === 'application/json' && (charset === undefined || /^"?utf-8"?$/.test(charset))) return;
  const given =
    contentType === undefined
      ? 'no Content-Type was given'
      : `the Content-Type given is ${JSON.stringify(contentType.slice(0, 100))}`;
  throw new RequestProblem('unsupported_media_type', `Send JSON as application/json in UTF-8; ${given}.`);
}

/** @throws RequestProblem 413 when a request is larger than it may be. */
export function rejectOversize(bytes: number): void {
  if (bytes <= REQUEST_MAX_BYTES) return;
  throw new RequestProblem(
    'too_large',
    `The request has ${bytes} bytes, expected at most ${REQUEST_MAX_BYTES}: split it.`,
  );
}

function decodeBody({ body = '', isBase64Encoded }: HttpEvent): string {
  rejectOversize(isBase64Encoded ? Buffer.byteLength(body, 'base64') : Buffer.byteLength(body));
  if (!isBase64Encoded) return body;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'base64'));
  } catch {
    throw new RequestProblem('malformed_body', 'The body is not UTF-8.');
  }
}

/** What the parser says is wrong, without the piece of the text that it may quote: details end up in callers' logs. */
const parserWords = (error: unknown): string =>
  error instanceof SyntaxError ? error.message.replace(/, (\.{3})?".*$/s, '') : 'it cannot be parsed';

/** The body, parsed, and the text that it was. @throws RequestProblem 400, 413 or 415. */
function readJson(event: HttpEvent): { value: unknown; source: string } {
  requireJsonType(event.headers['content-type']);
  const source = decodeBody(event);
  if (source.trim() === '') throw new RequestProblem('malformed_body', 'The body is empty, expected JSON.');
  try {
    return { value: JSON.parse(source), source };
  } catch (error) {
    throw new RequestProblem('malformed_body', `The body is not JSON: ${parserWords(error)}.`);
  }
}

const claimsOf = ({ requestContext }: HttpEvent): Claims | undefined =>
  'authorizer' in requestContext ? requestContext.authorizer.jwt?.claims : undefined;

/**
 * Holds a request against its route.
 *
 * @throws RequestProblem naming every fault there is.
 */
export function readRequest(route: Route, event: HttpEvent): Call {
  const json = route.body === undefined ? undefined : readJson(event);
  const faults: Fault[] = [];
  const check = (part: Fault['in'], schema: z.ZodMiniType, given: unknown): unknown => {
    const read = schema.safeParse(given);
    if (!read.success) faults.push(...faultsOf(part, given, read.error.issues));
    return read.data;
  };
  const call: Call = {
    params: check('path', route.params ?? nothing, event.pathParameters ?? {}),
    query: check('query', route.query ?? nothing, event.queryStringParameters ?? {}),
    headers: check('header', route.headers ?? z.object({}), event.headers),
    body: route.body === undefined ? undefined : check('body', route.body, json?.value),
    source: json?.source,
    claims: claimsOf(event),
    caller: callerOf(event),
    direct: false,
    requestId: event.requestContext.requestId,
  };
  rejectFaults(faults);
  return call;
}
