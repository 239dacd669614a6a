import type { MiddlewareObj, Request } from '@middy/core';
import withMiddleware from '@middy/core';
import type { Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import { type Route, routeKey } from './route.ts';
import { problems, RequestProblem } from '../domain/problems.ts';
import { describeThrown, type FunctionLog, logRequest } from '../telemetry/logger.ts';
import { type Answer, problemOf, toDirect, toHttp } from './answer.ts';
import { faultsOf } from './faults.ts';
import { type Call, type HttpEvent, readRequest, rejectFaults } from './request.ts';

/** A route and what answers it. */
export interface Bound {
  readonly route: Route;
  readonly respond: (call: Call) => Promise<Answer>;
}

type CallOf<P extends z.ZodMiniType, Q extends z.ZodMiniType, H extends z.ZodMiniType, B extends z.ZodMiniType> = Call<
  z.output<P>,
  z.output<Q>,
  z.output<H>,
  z.output<B>
>;

/** Binds a route to what answers it, with the types that its schemas let through. */
export const on = <P extends z.ZodMiniType, Q extends z.ZodMiniType, H extends z.ZodMiniType, B extends z.ZodMiniType>(
  route: Route<P, Q, H, B>,
  respond: (call: CallOf<P, Q, H, B>) => Promise<Answer>,
  // The schemas of this very route made the call.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
): Bound => ({ route, respond: respond as Bound['respond'] });

/** How a function answers an invoke that did not come through the gateway. */
export interface Direct {
  readonly schema: z.ZodMiniType;
  readonly respond: (body: unknown, requestId: string) => Promise<Answer>;
}

/** Binds the event of a direct invoke to what answers it. */
export const onDirect = <B extends z.ZodMiniType>(
  schema: B,
  respond: (body: z.output<B>, requestId: string) => Promise<Answer>,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
): Direct => ({ schema, respond: respond as Direct['respond'] });

interface HttpOptions {
  readonly log: FunctionLog;
  readonly calls: readonly Bound[];
  readonly direct?: Direct;
}

const isHttpEvent = (event: unknown): event is HttpEvent =>
  typeof event === 'object' &&
  event !== null &&
  'requestContext' in event &&
  typeof event.requestContext === 'object' &&
  event.requestContext !== null &&
  'http' in event.requestContext;

const requestIdOf = (event: unknown, context: Context): string =>
  isHttpEvent(event) ? event.requestContext.requestId : context.awsRequestId;

/** Turns whatever was thrown into a problem, and logs what the caller is not told. */
const problemsForErrors = (log: FunctionLog): MiddlewareObj<unknown, unknown, unknown> => {
  const answerWithProblem = ({ error, event, context }: Request<unknown, unknown, unknown>): unknown => {
    const requestId = requestIdOf(event, context);
    const given = problemOf(error);
    const { status, problem } = given;
    if (status >= 500) log.error('request failed', { status, problem, reason: describeThrown(error) });
    else log.info('request refused', { status, problem });
    return isHttpEvent(event) ? toHttp(given, requestId) : toDirect(given, requestId);
  };
  return { onError: answerWithProblem };
};

/**
 * The one stack for functions behind the HTTP API: finds the route, holds the request against it, makes one call, and gives
 * the answer the form that the caller understands. Whatever is thrown becomes a problem document.
 */
export function httpHandler({ log, calls, direct }: HttpOptions) {
  const byKey = new Map(calls.map((bound) => [routeKey(bound.route), bound]));

  async function respondToHttp(event: HttpEvent): Promise<Answer> {
    const bound = byKey.get(event.routeKey);
    if (bound === undefined) throw new RequestProblem('not_found', 'This function has no such route.');
    return bound.respond(readRequest(bound.route, event));
  }

  async function respondToInvoke(event: unknown, requestId: string): Promise<Answer> {
    if (direct === undefined)
      throw new RequestProblem('not_found', 'This function answers requests of the HTTP API only.');
    const read = direct.schema.safeParse(event);
    if (!read.success) rejectFaults(faultsOf('body', event, read.error.issues));
    return direct.respond(read.data, requestId);
  }

  async function respond(event: unknown, context: Context): Promise<unknown> {
    const startedMs = performance.now();
    const requestId = requestIdOf(event, context);
    logRequest(log, requestId);
    const given = isHttpEvent(event) ? await respondToHttp(event) : await respondToInvoke(event, requestId);
    log.info('request', {
      route: isHttpEvent(event) ? event.routeKey : 'invoke',
      status: given.status,
      ...(given.problem !== undefined && { problem: problems[given.problem].title }),
      ms: Math.round(performance.now() - startedMs),
    });
    return isHttpEvent(event) ? toHttp(given, requestId) : toDirect(given, requestId);
  }

  return withMiddleware(respond).use(problemsForErrors(log));
}
