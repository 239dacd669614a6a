import { queueKeys } from '../../functions/lib/queue/keys.ts';
import { forVisits } from '../../functions/lib/queue/parts.ts';
import type { RedisConnection } from '../../functions/lib/queue/script.ts';

const AGE = `
local ms = tonumber(ARGV[1])
local function earlier(time) if time > 0 then return time - ms end return time end
local function aged(job)
  local flags, attempts, sequence, readySince, enqueuedAt = struct.unpack('>BBI6I6I6', job)
  return struct.pack('>BBI6I6I6', flags, attempts, sequence, readySince - ms, enqueuedAt - ms) .. string.sub(job, 21)
end
local function agedIn(list, first, age)
  for i = first, redis.call('LLEN', list) - 1 do
    local stored = redis.call('LINDEX', list, i)
    if stored ~= '' then redis.call('LSET', list, i, age(stored)) end
  end
end
local function rescored(zset, timed, member)
  local stored = redis.call('ZRANGE', zset, 0, -1, 'WITHSCORES')
  if #stored == 0 then return end
  redis.call('DEL', zset)
  for i = 1, #stored, 2 do
    redis.call('ZADD', zset, tonumber(stored[i + 1]) - (timed and ms or 0), member and member(stored[i]) or stored[i])
  end
end
local function namesOf(kind)
  local names, cursor = {}, '0'
  repeat
    local page = redis.call('SCAN', cursor, 'MATCH', prefix .. kind .. ':*', 'COUNT', 10000)
    cursor = page[1]
    for _, k in ipairs(page[2]) do names[#names + 1] = string.sub(k, #prefix + #kind + 2) end
  until cursor == '0'
  return names
end
for _, zset in ipairs({ 'due', 'held', 'opening', 'visits', 'oldest', 'idle', 'onces' }) do rescored(prefix .. zset, true) end
for _, name in ipairs(namesOf('ready')) do agedIn(readyKey(name), 0, aged) end
for _, name in ipairs(namesOf('returned')) do rescored(returnedKey(name), false, aged) end
for _, name in ipairs(namesOf('delayed')) do rescored(delayedKey(name), true, aged) end
for _, name in ipairs(namesOf('dead')) do
  agedIn(deadKey(name), 0, function(dead)
    local at, length = struct.unpack('>I6H', dead)
    return struct.pack('>I6H', at - ms, length) .. string.sub(dead, 9, 8 + length) .. aged(string.sub(dead, 9 + length))
  end)
end
for _, leaseId in ipairs(namesOf('visit')) do
  agedIn(visitKey(leaseId), 1, aged)
  local l = unpackLease(redis.call('LINDEX', visitKey(leaseId), 0))
  l.claimedAt = l.claimedAt - ms
  redis.call('LSET', visitKey(leaseId), 0, packLease(l))
end
for _, name in ipairs(namesOf('tenant')) do
  local t = tenant(name)
  for _, field in ipairs({ 'heldUntil', 'idle', 'levelAt', 'r1t', 'r2t' }) do t[field] = earlier(t[field]) end
  redis.call('SET', tenantKey(name), packTenant(t))
end
totals.r1t, totals.r2t = earlier(totals.r1t), earlier(totals.r2t)
saveClock()
return 1`;

const source = ['#!lua', ...forVisits, AGE].join('\n');

/**
 * Lets so much time pass for a queue: every time that Redis holds of it, but for the watcher's last reading, is
 * moved into the past, in one step. What was due in `ms` is due now, without a wait; what the real clock then adds comes on top.
 */
export async function advance(redis: RedisConnection, queue: string, ms: number, shard = 0): Promise<void> {
  await redis.call('eval', source, 1, queueKeys(queue, shard).prefix, ms);
}
