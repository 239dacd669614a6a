import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { codeOf, messageOf } from './errors.ts';

export interface LocalServer {
  port: number;
  close(): Promise<void>;
}

/**
 * Serves HTTP on 127.0.0.1.
 *
 * @param port 0 takes any free one.
 * @param setting the environment variable that chooses the port, named when the port is taken.
 * @throws Error of one line that says which port is taken and what to do.
 */
export async function serve(
  port: number,
  setting: string,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  onProblem: (line: string) => void,
): Promise<LocalServer> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (request.destroyed && !request.complete) return;
      onProblem(`${request.method} ${request.url} could not be answered: ${messageOf(error)}`);
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"message":"Internal Server Error"}');
    });
  });
  // Clients reuse connections for long; one closed under a request would look like a fault of the queue.
  server.keepAliveTimeout = 75_000;
  await listen(server, port, setting);
  const address = server.address();
  return {
    port: address !== null && typeof address === 'object' ? address.port : port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, port: number, setting: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const taken = codeOf(error) === 'EADDRINUSE';
      reject(
        taken
          ? new Error(`Port ${port} is taken: end what listens there, or set ${setting} to another port (0 = any)`)
          : error,
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Reads a whole request body, or `undefined` when it is longer than `limit` bytes (the rest is thrown away). */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const part: unknown = chunk;
    if (!Buffer.isBuffer(part)) continue;
    length += part.length;
    if (length <= limit) chunks.push(part);
  }
  return length <= limit ? Buffer.concat(chunks) : undefined;
}
