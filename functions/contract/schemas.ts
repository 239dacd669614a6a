import * as z from 'zod/mini';
import { isTenantId, parseTenantSegment, tenantIdFault } from '../lib/domain/ids.ts';

interface Meta {
  id?: string;
  description?: string;
  [keyword: string]: unknown;
}

/**
 * A copy of the schema with what the OpenAPI document says about it: a description, or keywords that zod has no word for. A copy,
 * since one that many fields share would have the words of whichever field is loaded last.
 */
export const documented = <S extends z.ZodMiniType>(schema: S, meta: Meta): S => {
  const copy = z.clone(schema);
  z.globalRegistry.add(copy, meta);
  return copy;
};

export const tenantId = documented(
  z.pipe(
    z.string(),
    z.transform((text: string, context) => {
      if (isTenantId(text)) return text;
      context.issues.push({ code: 'custom', input: text, message: tenantIdFault(text) ?? '' });
      return z.NEVER;
    }),
  ),
  {
    id: 'TenantId',
    description:
      'Any text of 1 to 128 characters (code points) in normalisation form C, without control characters; compared byte for byte.',
    minLength: 1,
    maxLength: 128,
  },
);

export const tenantParams = z.strictObject({
  tenant: documented(
    z.pipe(
      z.string(),
      z.transform((segment: string, context) => {
        const parsed = parseTenantSegment(segment);
        if ('id' in parsed) return parsed.id;
        context.issues.push({ code: 'custom', input: segment, message: parsed.fault });
        return z.NEVER;
      }),
    ),
    {
      description:
        'The tenant id itself if it matches `[A-Za-z0-9_-][A-Za-z0-9._-]*`; any other id as `~` followed by the base64url (without padding) of its UTF-8.',
      pattern: '^([A-Za-z0-9_-][A-Za-z0-9._-]*|~[A-Za-z0-9_-]+)$',
    },
  ),
});

/** A job by its id, of a tenant. */
export const jobParams = z.extend(tenantParams, {
  job: documented(z.string().check(z.regex(/^\d{1,3}-[0-9a-f]{24}$/, 'the id of a job, as its enqueue answered it')), {
    description: 'Id of the job, as its enqueue answered it.',
  }),
});

/** A value for what is not given. */
// oxlint-disable-next-line no-underscore-dangle -- so called, since `default` is a word of the language
export const withDefault = z._default;

/** A number of a query string. */
export const queryInteger = (least: number, most: number, fallback: number, description: string) =>
  documented(
    withDefault(
      z.pipe(
        z.pipe(
          z.string().check(z.regex(/^\d{1,9}$/, `a whole number from ${least} to ${most}`)),
          z.transform((digits: string) => Number(digits)),
        ),
        z.number().check(z.gte(least), z.lte(most)),
      ),
      fallback,
    ),
    { description: `${description} ${fallback} if not given.`, type: 'integer', minimum: least, maximum: most },
  );

/** What a page of a list is asked by. */
export const pageQuery = (fallback: number) =>
  z.strictObject({
    limit: queryInteger(1, 1_000, fallback, 'Most entries of the page; one that would be larger than 1 MiB has fewer.'),
    cursor: z.optional(
      documented(z.string().check(z.regex(/^\d{1,9}$/, '`next` of the page before')), {
        description: '`next` of the page before.',
      }),
    ),
  });

/** A page of a list. */
export const pageSchema = <Entry extends z.ZodMiniType>(name: string, entry: Entry) =>
  z.strictObject({
    [name]: z.array(entry),
    next: documented(z.nullable(z.string()), { description: 'Cursor of the next page; null at the end.' }),
  });

export const planName = documented(z.string().check(z.minLength(1), z.maxLength(64)), {
  description: 'The name of one of the configured plans.',
});

export const weight = documented(z.number().check(z.gte(0.01), z.lte(1_000)), {
  description: 'Share of service relative to other tenants; fractions are fine.',
});

export const maxDepth = documented(z.int().check(z.gte(0), z.lte(100_000_000)), {
  description: 'Most jobs that may wait; an enqueue beyond it is answered with 429.',
});

export const maxConcurrency = documented(z.int().check(z.gte(0), z.lte(10_000)), {
  description: 'Most lanes the tenant may hold at once; 0 serves nothing.',
});

export const maxBytes = documented(z.int().check(z.gte(0), z.lte(1_000_000_000_000)), {
  description: 'Most bytes that the payloads of waiting jobs may have; an enqueue beyond it is answered with 429.',
});

export const maxJobsPerSecond = documented(z.number().check(z.gte(0.001), z.lte(1_000_000)), {
  description: 'Most jobs that are served a second. A retry does not count.',
});

export const burst = documented(z.int().check(z.gte(1), z.lte(1_000_000)), {
  description: 'How many jobs may be served at once under `maxJobsPerSecond`; what a second brings if nobody says.',
});

export const count = z.int().check(z.gte(0));
export const seconds = z.number().check(z.gte(0));

export const time = documented(z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)), {
  description: 'UTC, to the millisecond.',
});

/** What is told of a job that waits or has died. */
export const storedJob = z.strictObject({
  id: z.string(),
  type: z.string(),
  payload: documented(z.unknown(), { description: 'As it was enqueued, but for digits that a double does not hold.' }),
  attempts: documented(count, { description: 'Attempts used.' }),
  maxAttempts: count,
  cost: z.number(),
  enqueuedAt: time,
});
