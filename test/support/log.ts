import type { Log } from '../../functions/lib/telemetry/logger.ts';

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps what it is given. */
export function keptLog(): { readonly log: Log; readonly lines: Line[] } {
  const lines: Line[] = [];
  const keep =
    (level: Line['level']): Log['info'] =>
    (message, ...fields) => {
      lines.push({ level, message, fields: Object(fields[0]) });
    };
  return { log: { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }, lines };
}
