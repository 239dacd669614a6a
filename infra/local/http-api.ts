import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Authorizers } from './authorizers.ts';
import { decodeTarget, type GatewayRequest, type GatewayResponse, toEvent, toResponse } from './http-event.ts';
import { matchRoute, type Route, type RouteMatch, type Throttle } from './http-routes.ts';
import { readBody } from './http-server.ts';
import type { LambdaService } from './lambda-service.ts';
import type { AnsweredRequest } from './metrics/service-metrics.ts';
import type { Permissions } from './permissions.ts';

export interface HttpApiOptions {
  routes: Route[];
  throttle: Throttle | undefined;
  lambda: LambdaService;
  permissions: Permissions;
  accountId: string;
  onProblem: (line: string) => void;
  onRequest: (request: AnsweredRequest) => void;
}

// Limits of the service.
const LARGEST_REQUEST_BYTES = 10_485_760;
const LARGEST_EVENT_BYTES = 6_291_456;
const INTEGRATION_TIMEOUT_MS = 30_000;

const API_ID = 'local';

/** The answers that the gateway makes itself, bodies included; they carry no Retry-After. */
const MESSAGES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Request Entity Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

/** The template's HTTP API: routes, authorizers, throttle and the events and answers of payload format 2.0. */
export function httpApi(
  options: HttpApiOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const authorizers = new Authorizers(options.accountId, options.onProblem);
  const admit = throttleOf(options.throttle);
  return async (request, response) => {
    const requestId = randomUUID();
    const startedAt = performance.now();
    let integrationMs: number | undefined;
    const answer = await route(request, requestId, options, authorizers, admit, (ms) => (integrationMs = ms));
    const { status, headers, body } = typeof answer === 'number' ? ownAnswer(answer) : answer;
    response.writeHead(status, { ...headers, 'apigw-requestid': requestId, 'content-length': body.length });
    options.onRequest({ status, latencyMs: performance.now() - startedAt, integrationMs });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}

async function route(
  request: IncomingMessage,
  requestId: string,
  options: HttpApiOptions,
  authorizers: Authorizers,
  admit: () => boolean,
  onIntegrated: (ms: number) => void,
): Promise<GatewayResponse | keyof typeof MESSAGES> {
  const body = await readBody(request, LARGEST_REQUEST_BYTES);
  if (!body) return 413;
  const target = decodeTarget(request.url ?? '/');
  if (!target) return 400;
  const match = matchRoute(options.routes, request.method ?? '', target.path);
  if (!match) return 404;
  if (!admit()) return 429;
  const authorized = await authorizers.authorize(match.route.authorization, request.headers.authorization);
  if (!authorized.allowed) return authorized.status;
  const startedAt = performance.now();
  const answer = await integrate({ request, requestId, ...target, body }, match, authorized.context, options);
  onIntegrated(performance.now() - startedAt);
  return answer;
}

async function integrate(
  request: GatewayRequest,
  match: RouteMatch,
  authorizer: unknown,
  { lambda, permissions, onProblem }: HttpApiOptions,
): Promise<GatewayResponse | keyof typeof MESSAGES> {
  const { key, source, target } = match.route;
  const declared = lambda.find(target);
  if (!declared) {
    onProblem(`Route ${key}: its integration names ${target}, which is no function of the template`);
    return 500;
  }
  const call = { caller: 'apigateway.amazonaws.com', action: 'lambda:InvokeFunction', resource: declared.arn };
  if (!(await permissions.allows({ ...call, context: { 'aws:SourceArn': source } }))) {
    onProblem(`Route ${key}: function ${declared.name} has no permission for apigateway.amazonaws.com to invoke it`);
    return 500;
  }
  const event = toEvent(request, match, API_ID, authorizer);
  if (Buffer.byteLength(event) > LARGEST_EVENT_BYTES) return 413;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, INTEGRATION_TIMEOUT_MS, 'late');
  });
  const answer = await Promise.race([lambda.invoke(declared.name, event), timeout]);
  clearTimeout(timer);
  if (answer === 'late' || !answer) return 503;
  if (answer.result.functionError) return 500;
  return toResponse(answer.result.payload) ?? 500;
}

function ownAnswer(status: keyof typeof MESSAGES): GatewayResponse {
  const body = Buffer.from(JSON.stringify({ message: MESSAGES[status] }));
  return { status, headers: { 'content-type': 'application/json' }, body };
}

/** A token bucket: `burst` requests at once, refilled at the stage's rate. */
function throttleOf(throttle: Throttle | undefined): () => boolean {
  if (!throttle) return () => true;
  let tokens = throttle.burst;
  let filledAt = performance.now();
  return () => {
    const now = performance.now();
    tokens = Math.min(throttle.burst, tokens + ((now - filledAt) / 1_000) * throttle.ratePerSecond);
    filledAt = now;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
}
