import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** `AWS4-HMAC-SHA256 Credential=<access key id>/<date>/…`; the signature itself is taken for granted. */
export function accessKeyIdOf(request: IncomingMessage): string | undefined {
  return /Credential=([^/,\s]+)\//.exec(request.headers.authorization ?? '')?.[1];
}

/** Answers with an error as the services do: its kind in a header and, of the newer protocols, in the body. */
export function refuse(response: ServerResponse, status: number, type: string, body: Record<string, string>): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-amzn-requestid': randomUUID(),
    'x-amzn-errortype': type,
  });
  response.end(JSON.stringify({ __type: type, ...body }));
}
