import { Logger } from '@aws-lambda-powertools/logger';

/** Fields of log lines. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What the parts need of a logger. Payloads are never handed to it. */
export interface Log extends Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> {
  /** The same log, with these fields in every line. */
  createChild(options: { persistentKeys: Record<string, unknown> }): Log;
}

/** The log of a function, whose lines all name the request that they are about. */
export interface FunctionLog extends Log {
  /** Adds fields to all lines from here on. */
  appendKeys(fields: Record<string, unknown>): void;
  /** Takes away what was added. */
  resetKeys(): void;
}

/** The logger of a function, one JSON object a line. */
export const createLogger = (functionName: string): FunctionLog => new Logger({ serviceName: `rota-${functionName}` });

/** Names the request in every line from here on. An environment works on one at a time. */
export function logRequest(log: FunctionLog, requestId: string): void {
  log.resetKeys();
  log.appendKeys({ requestId });
}

/** A log that has these fields in every line. */
export const logWith = (log: Log, fields: LogFields): Log => log.createChild({ persistentKeys: { ...fields } });

const MOST_CHARACTERS = 1_000;

/** What was thrown, as text of at most 1,000 characters. Never throws itself, whatever it is given. */
export function describeThrown(thrown: unknown): string {
  try {
    const text =
      thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `thrown ${typeof thrown}: ${String(thrown)}`;
    return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…`.toWellFormed() : text.toWellFormed();
  } catch {
    return 'something that cannot be shown was thrown';
  }
}
