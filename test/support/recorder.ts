import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { afterAll, onTestFinished } from 'vitest';
import type { Job } from './stack.ts';

export interface Recorded {
  jobId: string;
  tenant: string;
  attempt: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as it came, undecoded. */
  body: Buffer;
  /** On the clock of `performance.now()`. */
  atMs: number;
}

/** An HTTP server that webhook jobs call: what was really run, seen from outside the queue. */
export interface Recorder {
  url: string;
  /** Every call, in the order of arrival. */
  calls: Recorded[];
  /** How often each job has called. */
  runs(): Map<string, number>;
  /** A job that calls it with this body. */
  job(body?: unknown): Job;
  /** Holds its answers back until the returned function is called. */
  hold(): () => void;
}

const agree = (_call: Recorded, response: ServerResponse): void => {
  response.writeHead(204).end();
};

/**
 * Starts a recorder that ends with the test, or with the file when it is started outside of one.
 *
 * @param reply how it answers; 204 to all if not given
 */
export async function startRecorder(scope: 'file' | 'test' = 'file', reply = agree): Promise<Recorder> {
  const calls: Recorded[] = [];
  let held = Promise.resolve();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call: Recorded = {
        jobId: String(request.headers['rota-job-id']),
        tenant: decodeURIComponent(String(request.headers['rota-tenant'])),
        attempt: Number(request.headers['rota-attempt']),
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
        atMs: performance.now(),
      };
      calls.push(call);
      void held.then(() => reply(call, response));
    });
  });
  // Environments are frozen for longer than the default of 5 s, and would find the connection gone.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  if (scope === 'file') afterAll(close);
  else onTestFinished(close);
  return {
    url,
    calls,
    runs() {
      const runs = new Map<string, number>();
      for (const { jobId } of calls) runs.set(jobId, (runs.get(jobId) ?? 0) + 1);
      return runs;
    },
    job: (body = {}) => ({ type: 'webhook', payload: { url, body } }),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
  };
}
