import { expect, test } from 'vitest';
import { connectShared } from '../support/queue.ts';

test('provides a cluster of one node that holds every slot', async () => {
  const cluster = connectShared();
  try {
    const keys = ['rota-a', 'rota-b', 'rota-c'].map((tag) => `{runner-redis-${tag}}`);
    for (const key of keys) expect(await cluster.set(key, key)).toBe('OK');
    for (const key of keys) expect(await cluster.getdel(key)).toBe(key);
    const [node] = cluster.nodes('master');
    expect(await node?.cluster('INFO')).toContain('cluster_slots_ok:16384');
    expect(await node?.config('GET', 'appendonly')).toEqual(['appendonly', 'no']);
  } finally {
    cluster.disconnect();
  }
});
