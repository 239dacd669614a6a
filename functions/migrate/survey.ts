import { type ElementRules, readElement } from './element.ts';
import type { Source } from './source-list.ts';

const PAGE = 1_000;
/** Beyond so many tenants the rest is counted together. */
const TENANTS_MAX = 100_000;

/** What a move would do. */
export interface SourceSurvey {
  readonly elements: number;
  readonly tenants: ReadonlyMap<string, number>;
  /** Jobs of tenants beyond the first 100,000. */
  readonly ofOthers: number;
  readonly types: ReadonlyMap<string, number>;
  readonly reasons: ReadonlyMap<string, number>;
}

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

/** Looks at every element of a list without taking any. */
export async function survey(
  source: Source,
  rules: ElementRules,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (elements: number) => void },
): Promise<SourceSurvey> {
  const [tenants, types, reasons] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  let [elements, ofOthers] = [0, 0];
  while (!signal.aborted) {
    const page = await source.look(elements, PAGE);
    for (const element of page) {
      const read = readElement(element, rules);
      if ('reason' in read) count(reasons, read.reason);
      else {
        count(types, read.job.type);
        if (tenants.has(read.tenant) || tenants.size < TENANTS_MAX) count(tenants, read.tenant);
        else ofOthers += 1;
      }
    }
    elements += page.length;
    onProgress(elements);
    if (page.length < PAGE) break;
  }
  return { elements, tenants, ofOthers, types, reasons };
}
