import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { accessKeyIdOf, headerOf, refuse } from './aws-request.ts';
import { messageOf } from './errors.ts';
import type { DeclaredFunction } from './functions.ts';
import { readBody } from './http-server.ts';
import type { LambdaService } from './lambda-service.ts';

const INVOKE_PATH = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

// Limits of the service, in bytes.
const LARGEST_SYNC_PAYLOAD = 6_291_456;
const LARGEST_EVENT_PAYLOAD = 1_048_576;

/** The Lambda Invoke API, as the AWS SDKs and the `aws` command line speak it. */
export function invokeApi(
  lambda: LambdaService,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://lambda');
    const reference = nameIn(pathname);
    const body = await readBody(request, LARGEST_SYNC_PAYLOAD);
    if (request.method !== 'POST' || reference === undefined) {
      return refuse(response, 404, 'UnknownOperationException', { Message: 'The local runner offers Invoke only' });
    }
    const refusal = await lambda.refusal(accessKeyIdOf(request), 'lambda:InvokeFunction', lambda.arnOf(reference));
    if (refusal) return refuse(response, 403, 'AccessDeniedException', { Message: refusal });
    const qualifier = searchParams.get('Qualifier') ?? '$LATEST';
    const target = qualifier === '$LATEST' ? lambda.find(reference) : undefined;
    if (!target) {
      const names = lambda.functions.map(({ name }) => name).join(', ');
      const message = `Function not found: ${reference}${qualifier === '$LATEST' ? '' : `:${qualifier}`} (there are ${names})`;
      return refuse(response, 404, 'ResourceNotFoundException', { Type: 'User', Message: message });
    }
    const type = headerOf(request, 'x-amz-invocation-type') ?? 'RequestResponse';
    const limit = type === 'Event' ? LARGEST_EVENT_PAYLOAD : LARGEST_SYNC_PAYLOAD;
    if (!body || body.length > limit) {
      const message = `Request must be smaller than ${limit} bytes for the InvokeFunction operation`;
      return refuse(response, 413, 'RequestTooLargeException', { Type: 'User', message });
    }
    const payload = body.length === 0 ? '{}' : body.toString('utf8');
    const fault = jsonFault(payload);
    if (fault) {
      const message = `Could not parse request body into json: ${fault}`;
      return refuse(response, 400, 'InvalidRequestContentException', { Type: 'User', message });
    }
    await perform(lambda, target, type, payload, headerOf(request, 'x-amz-log-type') === 'Tail', response);
  };
}

async function perform(
  lambda: LambdaService,
  { name }: DeclaredFunction,
  type: string,
  payload: string,
  tail: boolean,
  response: ServerResponse,
): Promise<void> {
  switch (type) {
    case 'DryRun':
      response.writeHead(204, { 'x-amzn-requestid': randomUUID() }).end();
      return;
    case 'Event':
      response.writeHead(202, { 'x-amzn-requestid': lambda.queue(name).accept(payload), 'content-length': 0 }).end();
      return;
    case 'RequestResponse':
      break;
    default:
      return refuse(response, 400, 'InvalidParameterValueException', {
        Type: 'User',
        message: `InvocationType ${type} is none of RequestResponse, Event, DryRun`,
      });
  }
  const answer = await lambda.invoke(name, payload);
  if (!answer) {
    return refuse(response, 429, 'TooManyRequestsException', {
      Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded',
      Type: 'User',
      message: 'Rate Exceeded.',
    });
  }
  const { result, requestId, environment } = answer;
  // What the function wrote is on its way through a pipe while its answer comes through a socket.
  if (tail) await setImmediate();
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-amzn-requestid': requestId,
    'x-amz-executed-version': '$LATEST',
    ...(result.functionError && { 'x-amz-function-error': result.functionError }),
    ...(tail && { 'x-amz-log-result': Buffer.from(environment?.logTail ?? '').toString('base64') }),
  });
  response.end(result.payload);
}

/** The function that an Invoke path names, decoded; undefined when it names none or cannot be decoded. */
function nameIn(pathname: string): string | undefined {
  try {
    const [, encoded] = INVOKE_PATH.exec(pathname) ?? [];
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
