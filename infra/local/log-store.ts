/** The last lines that the functions logged, and whoever listens to new ones. */
export class LogStore {
  readonly #lines: { functionName: string; line: string }[] = [];
  readonly #capacity: number;
  readonly #listeners: ((functionName: string, line: string) => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(functionName: string, line: string): void {
    this.#lines.push({ functionName, line });
    // Dropped in slices: a shift at every line would move the whole list each time.
    if (this.#lines.length > this.#capacity * 2) this.#lines.splice(0, this.#capacity);
    for (const listener of this.#listeners) listener(functionName, line);
  }

  listen(listener: (functionName: string, line: string) => void): void {
    this.#listeners.push(listener);
  }

  /** The last lines of one function, or of all, oldest first. */
  lines(functionName?: string): string[] {
    const wanted = this.#lines.filter((entry) => functionName === undefined || entry.functionName === functionName);
    return wanted.slice(-this.#capacity).map(({ line }) => line);
  }
}
