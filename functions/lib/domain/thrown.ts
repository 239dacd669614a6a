/** A class of errors. */
type ErrorClass<E> = abstract new (...given: never[]) => E;

/** `instanceof` for what was thrown: false, instead of throwing itself, for what cannot even be asked for its class. */
export function isA<E>(thrown: unknown, type: ErrorClass<E>): thrown is E {
  try {
    return thrown instanceof type;
  } catch {
    return false;
  }
}

/** Whether the same again may go well, by the error's own word. */
export function isRetryable(thrown: unknown): boolean {
  try {
    return thrown instanceof Error && Reflect.get(thrown, 'retryable') === true;
  } catch {
    return false;
  }
}
