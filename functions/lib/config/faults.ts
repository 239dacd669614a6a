/** One thing that is wrong with the settings. `given` is absent when nothing was given. */
export interface Fault {
  readonly path: string;
  readonly given?: unknown;
  readonly expected: string;
}

const describe = ({ path, given, expected }: Fault) =>
  `  ${path}: ${given === undefined ? 'missing' : `given ${JSON.stringify(given)}`}, expected ${expected}`;

/** All that is wrong with the settings or the environment, in one message. Not retryable: somebody has to change them. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly code = 'settings_invalid';
  readonly retryable = false;
  readonly faults: readonly Fault[];

  constructor(what: string, faults: readonly Fault[]) {
    super(
      [`${what} (${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}):`, ...faults.map(describe)].join('\n'),
    );
    this.faults = faults;
  }
}
