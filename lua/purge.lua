-- purge: remove a tenant's waiting jobs, or everything of it: waiting, delayed, dead, in flight, record, counts.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 scope (jobs | everything)
-- RETURNS purged, ready, delayed, inFlight, dead (jobs removed) | more (call again: so far only idempotency keys were removed)
-- DERIVES tenant, record, ready, returned, delayed, dead, once, visit
-- INVARIANT after `everything` no key of the tenant is left and late settles of its visits change nothing
local name, everything = ARGV[1], ARGV[2] == 'everything'
local ENTRIES = 1000

if not config then return redis.error_reply(UNCONFIGURED) end
if everything then
  local fields = redis.call('HSCAN', onceKey(name), '0', 'COUNT', ENTRIES)[2]
  for i = 1, #fields, 2 do
    redis.call('ZREM', key.onces, fields[i] .. '\0' .. name)
    redis.call('HDEL', onceKey(name), fields[i])
  end
  if redis.call('HLEN', onceKey(name)) > 0 then return { 'more' } end
end
local t = tenant(name)
local ready, delayed, flight, dead = t.ready, t.delayed, 0, 0
redis.call('UNLINK', readyKey(name), returnedKey(name), delayedKey(name))
redis.call('ZREM', key.due, name)
local bytes = t.bytes
addReady(t, -ready, -bytes)
addDelayed(t, -delayed, 0)
t.back = 0
redis.call('ZREM', key.oldest, name)

if everything then
  flight, dead = t.flight, t.dead
  -- Visits in flight are as many as capacity at most; their leases are gone for whoever still works on them.
  for _, set in ipairs({ key.opening, key.visits }) do
    for _, leaseId in ipairs(redis.call('ZRANGE', set, 0, -1)) do
      local l = leaseOf(leaseId)
      if l and l.tenant == name then endVisit(t, leaseId, l) end
    end
  end
  addFlight(t, -flight)
  t.dead = 0
  totals.dead = totals.dead - dead
end
place(t)
if everything then
  redis.call('UNLINK', deadKey(name), onceKey(name), tenantKey(name), recordKey(name))
  redis.call('ZREM', key.depths, name)
  redis.call('ZREM', key.idle, name)
  redis.call('ZREM', key.held, name)
  t.gone = true
end
commit()
wake()
return { 'purged', ready, delayed, flight, dead }
