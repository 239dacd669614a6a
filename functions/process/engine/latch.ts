/** What a loop waits on: opened by whatever happens, closed again by the wait that it ends. */
export interface Latch {
  open(): void;
  /** Resolves as soon as the latch is open, or after `timeoutMs`. */
  wait(timeoutMs: number): Promise<void>;
}

export function createLatch(): Latch {
  let opened = false;
  let wake: (() => void) | undefined;
  return {
    open() {
      opened = true;
      wake?.();
    },
    async wait(timeoutMs) {
      if (!opened) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, Math.max(0, timeoutMs));
        wake = resolve;
        await promise;
        clearTimeout(timer);
      }
      opened = false;
      wake = undefined;
    },
  };
}
