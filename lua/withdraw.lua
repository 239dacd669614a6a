-- withdraw: take a slice of a tenant's waiting jobs out of the queue, for who moves them elsewhere, and keep them apart till then.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 count (most jobs)
-- RETURNS withdrawn, count, left (waiting jobs of the tenant)
-- DERIVES tenant, record, ready, returned, delayed
-- INVARIANT a withdrawn job is in `withdrawn` from the very step in which it no longer waits; none is in flight
local name, count = ARGV[1], tonumber(ARGV[2])

if not config then return redis.error_reply(UNCONFIGURED) end
local t = tenant(name)
local taken = 0

local function keep(jobs)
  for i = 1, #jobs do
    local tagged = struct.pack('>Hc0', #name, name) .. jobs[i]
    redis.call('ZADD', key.withdrawn, (struct.unpack('>I6', jobs[i], 3)), tagged)
  end
  taken = taken + #jobs
end

local function bytesOf(jobs)
  local bytes = 0
  for i = 1, #jobs do bytes = bytes + bodyBytes(jobs[i]) end
  return bytes
end

local back = redis.call('ZRANGE', returnedKey(name), 0, count - 1)
keep(back)
if #back > 0 then redis.call('ZREMRANGEBYRANK', returnedKey(name), 0, #back - 1) end
t.back = t.back - #back
local front = taken < count and redis.call('LRANGE', readyKey(name), 0, count - taken - 1) or {}
keep(front)
if #front > 0 then redis.call('LTRIM', readyKey(name), #front, -1) end
addReady(t, -#back - #front, -bytesOf(back) - bytesOf(front))
local later = taken < count and redis.call('ZRANGE', delayedKey(name), 0, count - taken - 1) or {}
keep(later)
if #later > 0 then redis.call('ZREMRANGEBYRANK', delayedKey(name), 0, #later - 1) end
addDelayed(t, -#later, -bytesOf(later))
local first = redis.call('ZRANGE', delayedKey(name), 0, 0, 'WITHSCORES')
if first[2] then
  redis.call('ZADD', key.due, first[2], name)
else
  redis.call('ZREM', key.due, name)
end
if taken > 0 then
  t.headMoved = true
  place(t)
  commit()
end
return { 'withdrawn', taken, t.ready + t.delayed }
