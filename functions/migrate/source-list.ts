import { createHash, randomBytes } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

/** Elements that are on their way. */
export interface Batch {
  /** The same for the same elements, whoever moves them and however often. */
  readonly id: string;
  readonly takenAtMs: number;
  /** The rules that it was first read by, as the caller named them. */
  readonly rules: string;
  readonly elements: readonly string[];
}

/** A list of an old queue, in the order in which its workers would take it. */
export interface Source {
  /** The batch that is under way, else the next one; null when the list is empty. */
  take(most: number, rules: string): Promise<Batch | null>;
  /** Ends a batch: every element is a job by now, or among the rejects that are kept here. */
  finish(batch: Batch, rejects: readonly string[]): Promise<void>;
  /** Elements that are left, those under way included. */
  left(): Promise<number>;
  /** Some elements from an offset on, without taking them. */
  look(from: number, count: number): Promise<string[]>;
}

/**
 * One script moves a slice from the list to `pending`, under a name: whatever dies afterwards, the slice is there, and comes
 * again under the same name.
 */
const TAKE = `
local list, pending, meta, most, id = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1]), ARGV[2]
if redis.call('EXISTS', meta) == 0 then
  local elements = ARGV[3] == 'head' and redis.call('LRANGE', list, 0, most - 1) or redis.call('LRANGE', list, -most, -1)
  if #elements == 0 then return { '', '0', {}, '' } end
  if ARGV[3] == 'head' then
    redis.call('LTRIM', list, #elements, -1)
  else
    redis.call('LTRIM', list, 0, -#elements - 1)
    for i = 1, math.floor(#elements / 2) do
      elements[i], elements[#elements + 1 - i] = elements[#elements + 1 - i], elements[i]
    end
  end
  for i = 1, #elements do
    local element = elements[i]
    if ARGV[4] ~= '' then
      local job = redis.call('HMGET', ARGV[4] .. element, 'name', 'data', 'opts')
      element = '{"id":' .. cjson.encode(element) .. ',"name":' .. cjson.encode(job[1] or '')
        .. ',"data":' .. (job[2] or 'null') .. ',"opts":' .. (job[3] or '{}') .. '}'
    end
    redis.call('RPUSH', pending, element)
  end
  local time = redis.call('TIME')
  redis.call('HSET', meta, 'id', id, 'at', time[1] .. '000', 'rules', ARGV[5])
end
local known = redis.call('HMGET', meta, 'id', 'at', 'rules')
return { known[1], known[2], redis.call('LRANGE', pending, 0, -1), known[3] }`;

const FINISH = `
if redis.call('HGET', KEYS[2], 'id') ~= ARGV[1] then return 0 end
for i = 2, #ARGV do redis.call('RPUSH', KEYS[3], ARGV[i]) end
redis.call('DEL', KEYS[1], KEYS[2])
return 1`;

interface ListOptions {
  readonly redis: Redis | Cluster;
  readonly list: string;
  /** The end that workers take from: the head of a list of Resque, the tail of one of BullMQ. */
  readonly end: 'head' | 'tail';
  /** Prefix of the hashes that the elements are ids of; '' when they are the jobs themselves. */
  readonly hashPrefix: string;
  readonly rejects: string;
}

const idIn = (element: string) => String(Reflect.get(Object(JSON.parse(element)), 'id'));

/** Keys beside a list in the slot of the list, where Redis is a cluster. */
export const besideOf = (list: string, what: string): string =>
  list.includes('{') ? `${list}:rota-${what}` : `{${list}}:rota-${what}`;

/** The elements of a list in a Redis. */
export function listSource({ redis, list, end, hashPrefix, rejects }: ListOptions): Source {
  const [pending, meta] = [besideOf(list, 'moving'), besideOf(list, 'batch')];
  return {
    async take(most, given) {
      const id = randomBytes(12).toString('hex');
      const reply = await redis.eval(TAKE, 3, list, pending, meta, most, id, end, hashPrefix, given);
      // What the script answers is of this form.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const [known, at, elements, rules] = reply as [string, string, string[], string];
      return known === '' ? null : { id: known, takenAtMs: Number(at), rules, elements };
    },
    async finish({ id, elements }, rejected) {
      await redis.eval(FINISH, 3, pending, meta, rejects, id, ...rejected);
      // Left behind by a death just here, they take memory and nothing more.
      if (hashPrefix !== '') await redis.unlink(elements.map((element) => `${hashPrefix}${idIn(element)}`));
    },
    left: async () => (await redis.llen(list)) + (await redis.llen(pending)),
    async look(from, count) {
      const [first, last] = end === 'head' ? [from, from + count - 1] : [-from - count, -from - 1];
      const elements = await redis.lrange(list, first, last);
      return end === 'head' ? elements : elements.toReversed();
    },
  };
}

/**
 * Lines of a text, which stay where they are. A batch is named by the text's name, by where it stands in it and by what it holds: the
 * same text again, in batches of the same size, makes the same batches.
 */
export function lineSource(
  name: string,
  lines: AsyncIterator<string>,
  most: number,
  keep: (reject: string) => Promise<void>,
): Source {
  let taken = 0;
  let current: Batch | null = null;
  return {
    async take(_most, rules) {
      if (current) return current;
      const elements: string[] = [];
      while (elements.length < most) {
        const { value, done } = await lines.next();
        if (done === true) break;
        if (value.trim() !== '') elements.push(value);
      }
      if (elements.length === 0) return null;
      const id = createHash('sha256')
        .update(JSON.stringify([name, taken, elements]))
        .digest('hex')
        .slice(0, 24);
      taken += elements.length;
      current = { id, takenAtMs: Date.now(), rules, elements };
      return current;
    },
    async finish(_batch, rejected) {
      for (const reject of rejected) await keep(reject);
      current = null;
    },
    left: () => Promise.resolve(current?.elements.length ?? 0),
    look: () => Promise.resolve([]),
  };
}
