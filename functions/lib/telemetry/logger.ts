import { Logger } from '@aws-lambda-powertools/logger';

/** What the parts need of a logger. Payloads are never handed to it. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** The logger of a function, one JSON object a line. */
export const createLogger = (functionName: string): Logger => new Logger({ serviceName: `rota-${functionName}` });

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
