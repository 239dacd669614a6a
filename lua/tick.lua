-- tick: do what time has made due, a slice of each: reap expired leases, promote delayed jobs, let held tenants back, purge.
-- KEYS 1 prefix
-- RETURNS ticked, nowMs, lapsed, crashed, promoted, released, purged, more (1 = a slice was full: call again)
-- DERIVES tenant, record, ready, returned, delayed, dead, once, visit
-- INVARIANT jobs of a lease that lapsed unopened come back unharmed; a crash with several unsettled jobs uses no attempt
local LEASES, TENANTS, JOBS, ENTRIES = 20, 20, 50, 100
local CRASHED = 'the worker was lost: its lease expired while this job ran alone'

if not config then return redis.error_reply(UNCONFIGURED) end
local more = 0

local function dueIn(set, most)
  local names = redis.call('ZRANGEBYSCORE', set, '-inf', now, 'LIMIT', 0, most)
  if #names == most then more = 1 end
  return names
end

local function unsettled(leaseId)
  local jobs = {}
  local stored = redis.call('LRANGE', visitKey(leaseId), 1, -1)
  for i = 1, #stored do
    if stored[i] ~= '' then jobs[#jobs + 1] = stored[i] end
  end
  return jobs
end

local function reap(set, fate)
  local leases = dueIn(set, LEASES)
  for i = 1, #leases do
    local l = leaseOf(leases[i])
    if l then
      local t = tenant(l.tenant)
      local jobs = unsettled(leases[i])
      endVisit(t, leases[i], l)
      fate(t, l, jobs)
      place(t)
    else
      -- Somebody deleted the visit by hand; its slot is free all the same.
      redis.call('ZREM', set, leases[i])
    end
  end
  return #leases
end

local function crash(t, _, jobs)
  addFlight(t, -#jobs)
  for i = 1, #jobs do
    local job = jobs[i]
    if #jobs == 1 then
      job = useAttempt(t, job, ALONE, CRASHED)
    else
      job = changed(job, ALONE, string.byte(job, 2))
    end
    if job then giveBack(t, job) end
  end
end

local function promote(name)
  local t = tenant(name)
  local jobs = redis.call('ZRANGEBYSCORE', delayedKey(name), '-inf', now, 'WITHSCORES', 'LIMIT', 0, JOBS)
  for i = 1, #jobs, 2 do
    local job, due = jobs[i], tonumber(jobs[i + 1])
    addDelayed(t, -1, -bodyBytes(job))
    if string.byte(job, 1) >= RETRY then
      giveBack(t, changed(job, 0, string.byte(job, 2), struct.unpack('>I6', job, 3), due))
    else
      t.headMoved = true
      redis.call('RPUSH', readyKey(name), changed(job, 0, string.byte(job, 2), nextSequence(), due))
      addReady(t, 1, bodyBytes(job))
    end
  end
  if #jobs > 0 then redis.call('ZREMRANGEBYRANK', delayedKey(name), 0, #jobs / 2 - 1) end
  if #jobs == 2 * JOBS then more = 1 end
  local first = redis.call('ZRANGE', delayedKey(name), 0, 0, 'WITHSCORES')
  if #first > 0 then
    redis.call('ZADD', key.due, first[2], name)
  else
    redis.call('ZREM', key.due, name)
  end
  place(t)
  return #jobs / 2
end

local function letBack(name)
  local t = tenant(name)
  redis.call('ZREM', key.held, name)
  if t.heldUntil <= now then
    holdBit(t, BACKING_OFF, false)
    t.heldUntil = 0
  end
  local before = t.pos
  place(t)
  return before == 0 and t.pos > 0 and 1 or 0
end

local function purgeIdle(name)
  local t = tenant(name)
  -- What is ahead of the clock or of its rate would be forgiven by forgetting it.
  if t.epoch == clock.epoch and t.turn > clock.v or levelOf(t) > 0 then
    t.idle = now + config.purgeMs
    redis.call('ZADD', key.idle, t.idle, name)
    return 0
  end
  redis.call('ZREM', key.idle, name)
  redis.call('ZREM', key.held, name)
  redis.call('DEL', tenantKey(name), recordKey(name))
  t.gone = true
  totals.purged = totals.purged + 1
  return 1
end

local lapsed = reap(key.opening, refund)
local crashed = reap(key.visits, crash)
totals.lapsed = totals.lapsed + lapsed
totals.crashed = totals.crashed + crashed

local promoted, released, purged = 0, 0, 0
for _, name in ipairs(dueIn(key.due, TENANTS)) do promoted = promoted + promote(name) end
for _, name in ipairs(dueIn(key.held, TENANTS)) do released = released + letBack(name) end
for _, name in ipairs(dueIn(key.idle, TENANTS)) do purged = purged + purgeIdle(name) end
for _, entry in ipairs(dueIn(key.onces, ENTRIES)) do
  local cut = string.find(entry, '\0', 1, true)
  redis.call('HDEL', onceKey(string.sub(entry, cut + 1)), string.sub(entry, 1, cut - 1))
  redis.call('ZREM', key.onces, entry)
end

commit()
wake()
return { 'ticked', now, lapsed, crashed, promoted, released, purged, more }
