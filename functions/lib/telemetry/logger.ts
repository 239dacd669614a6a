import { Logger } from '@aws-lambda-powertools/logger';

/** Fields of log lines. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What the parts need of a logger. Payloads are never handed to it. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** The log of a function, whose lines all name the request that they are about. */
export type FunctionLog = Log & Pick<Logger, 'appendKeys' | 'resetKeys'>;

/** The logger of a function, one JSON object a line. */
export const createLogger = (functionName: string): FunctionLog => new Logger({ serviceName: `rota-${functionName}` });

/** Names the request in every line from here on. An environment works on one at a time. */
export function logRequest(log: FunctionLog, requestId: string): void {
  log.resetKeys();
  log.appendKeys({ requestId });
}

/** A log that has these fields in every line. The library's own way, a child logger, takes 0.16 ms to make: too much for a job. */
export function logWith(log: Log, fields: LogFields): Log {
  const add =
    (level: keyof Log): Log['info'] =>
    (message, ...more) => {
      // Declared as either attributes or an error; read one after the other, whatever they are.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      log[level](message, ...([fields, ...more] as LogFields[]));
    };
  return { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') };
}

const MOST_CHARACTERS = 1_000;

const MOST_CAUSES = 3;

/** An error and, since the outermost often says the least, what caused it: `fetch failed`, for one. */
function withCauses(error: Error): string {
  const texts = [`${error.name}: ${error.message}`];
  let { cause } = error;
  for (let depth = 0; depth < MOST_CAUSES && cause instanceof Error; depth++) {
    const { name, message } = cause;
    // Who wraps an error often says again what it said.
    if (!texts.some((earlier) => earlier.includes(message))) texts.push(`${name}: ${message}`);
    ({ cause } = cause);
  }
  return texts.join('; caused by ');
}

/** What was thrown and what caused it, as text of at most 1,000 characters. Never throws itself, whatever it is given. */
export function describeThrown(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? withCauses(thrown) : `thrown ${typeof thrown}: ${String(thrown)}`;
    return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…`.toWellFormed() : text.toWellFormed();
  } catch {
    return 'something that cannot be shown was thrown';
  }
}
