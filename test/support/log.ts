import type { FunctionLog, Log } from '../../functions/lib/telemetry/logger.ts';

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps what it is given. */
export function keptLog(): { readonly log: FunctionLog; readonly lines: Line[] } {
  const lines: Line[] = [];
  let added: object = {};
  const keep =
    (level: Line['level']): Log['info'] =>
    (message, ...fields) => {
      lines.push({ level, message, fields: Object.assign({}, added, ...fields) });
    };
  const log: FunctionLog = {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    appendKeys: (keys) => {
      added = { ...added, ...keys };
    },
    resetKeys: () => {
      added = {};
    },
  };
  return { log, lines };
}
