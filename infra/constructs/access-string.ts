import { queuePrefix } from '../../functions/lib/queue/keys.ts';

/**
 * What the user of a queue may do in Redis, as an ACL rule.
 *
 * The scripts run with the rights of their caller, so the commands inside them count too.
 */
export const accessString = (queue: string): string =>
  [
    'on',
    `~${queuePrefix(queue)}*`,
    'resetchannels',
    '-@all',
    '+@read',
    '+@write',
    // Out again: KEYS, SORT, MIGRATE, RESTORE, FLUSHALL and their like.
    '-@dangerous',
    '+eval',
    '+evalsha',
    '+time',
    // What a client says and asks while it connects. `info` counts as dangerous, and the ready check wants it.
    '+auth',
    '+hello',
    '+ping',
    '+quit',
    // Not `client|setinfo`: servers before 7.2 know no such command, and refuse the whole rule.
    '+client|setname',
    '+info',
    '+cluster|slots',
    '+cluster|shards',
    '+cluster|nodes',
    '+cluster|info',
  ].join(' ');
