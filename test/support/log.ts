import type { FunctionLog, Log } from '../../functions/lib/telemetry/logger.ts';

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps what it is given. */
export function keptLog(): { readonly log: FunctionLog; readonly lines: Line[] } {
  const lines: Line[] = [];
  const logWith = (fields: object): FunctionLog => {
    let added: object = {};
    const keep =
      (level: Line['level']): Log['info'] =>
      (message, ...more) => {
        lines.push({ level, message, fields: { ...fields, ...added, ...Object(more[0]) } });
      };
    return {
      debug: keep('debug'),
      info: keep('info'),
      warn: keep('warn'),
      error: keep('error'),
      createChild: ({ persistentKeys }) => logWith({ ...fields, ...added, ...persistentKeys }),
      appendKeys: (keys) => {
        added = { ...added, ...keys };
      },
      resetKeys: () => {
        added = {};
      },
    };
  };
  return { log: logWith({}), lines };
}
