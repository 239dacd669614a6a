import { vi } from 'vitest';
import type { Local } from '../../infra/local/local.ts';
import { emfRecords, type EmfRecord } from './emf.ts';

/** Has `monitor` look at the queue; returns the records that it wrote. */
export async function lookAt(stack: Pick<Local, 'logs' | 'fire'>): Promise<EmfRecord[]> {
  const before = emfRecords(stack.logs('monitor')).length;
  stack.fire('monitor');
  return await vi.waitFor(
    () => {
      const records = emfRecords(stack.logs('monitor')).slice(before);
      // The record of all others is the last.
      if (records.at(-1)?.tenant !== 'other') throw new Error('monitor has not written yet');
      return records;
    },
    { timeout: 20_000, interval: 20 },
  );
}
