/** A path into JSON, such as `account_id`, `account.id` or `args[0].account_id`. */
export const JSON_PATH = /^[A-Za-z_$][\w$-]*((\.[A-Za-z_$][\w$-]*)|(\[\d{1,6}\]))*$/;

/** What stands at a path of this form; undefined when there is nothing. */
export const atPath = (value: unknown, path: string): unknown =>
  [...path.matchAll(/[^.[\]]+/g)].reduce<unknown>(
    (inner, [name]) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name) ? Reflect.get(inner, name) : undefined,
    value,
  );

/** A name that is written as text or as a whole number; undefined for anything else. */
export const nameAt = (value: unknown, path: string): string | undefined => {
  const found = atPath(value, path);
  if (typeof found === 'string') return found;
  return Number.isSafeInteger(found) ? String(found) : undefined;
};
