-- sweep: count anew what is kept of some tenants, from their lists and leases, and put right what differs.
-- KEYS 1 prefix
-- ARGV 1 totals (1 = also the queue's own, where few enough tenants wait), then names of tenants
-- RETURNS swept, nowMs, tenants (of those named, that there are), repaired (differences found by all sweeps so far),
--   then per difference: tenant ('' = the queue), counter, kept, counted
-- DERIVES tenant, record, ready, returned, delayed, dead, visit
-- INVARIANT a queue in which nothing differs is left as it was
local withTotals, firstName = ARGV[1] == '1', 2
-- Payload bytes are added up only of small backlogs, so much in a call, and the queue's sums only where few tenants wait.
local FEW_JOBS, FEW_TENANTS = 100, 200
local bytesLeft = 4 * 1024 * 1024

if not config then return redis.error_reply(UNCONFIGURED) end
local found = {}

local function differs(name, counter, kept, counted)
  if kept == counted then return false end
  for _, value in ipairs({ name, counter, exact(kept), exact(counted) }) do found[#found + 1] = value end
  return true
end

-- Visits are as many as capacity at most: all leases are read at once.
local flight, lanes, allFlight = {}, {}, 0
for _, set in ipairs({ key.opening, key.visits }) do
  for _, leaseId in ipairs(redis.call('ZRANGE', set, 0, -1)) do
    local l = leaseOf(leaseId)
    if l then
      flight[l.tenant] = (flight[l.tenant] or 0) + l.left
      lanes[l.tenant] = (lanes[l.tenant] or 0) + l.lanes
      allFlight = allFlight + l.left
    end
  end
end

local function bytesOf(name)
  local bytes = 0
  for _, jobs in ipairs({
    redis.call('LRANGE', readyKey(name), 0, -1), redis.call('ZRANGE', returnedKey(name), 0, -1),
    redis.call('ZRANGE', delayedKey(name), 0, -1),
  }) do
    for i = 1, #jobs do bytes = bytes + bodyBytes(jobs[i]) end
  end
  return bytes
end

local function sweepCounters(t)
  local name = t.name
  local back = redis.call('ZCARD', returnedKey(name))
  local ready, delayed = redis.call('LLEN', readyKey(name)) + back, redis.call('ZCARD', delayedKey(name))
  local dead = redis.call('LLEN', deadKey(name))
  if differs(name, 'back', t.back, back) then t.back = back end
  if differs(name, 'ready', t.ready, ready) then addReady(t, ready - t.ready, 0) end
  if differs(name, 'delayed', t.delayed, delayed) then addDelayed(t, delayed - t.delayed, 0) end
  if ready + delayed == 0 or ready + delayed <= FEW_JOBS and t.bytes <= bytesLeft then
    bytesLeft = bytesLeft - t.bytes
    local bytes = bytesOf(name)
    if differs(name, 'bytes', t.bytes, bytes) then addReady(t, 0, bytes - t.bytes) end
  end
  if differs(name, 'dead', t.dead, dead) then
    totals.dead = totals.dead + dead - t.dead
    t.dead = dead
  end
  if differs(name, 'flight', t.flight, flight[name] or 0) then addFlight(t, (flight[name] or 0) - t.flight) end
  if differs(name, 'lanes', t.lanes, lanes[name] or 0) then t.lanes = lanes[name] or 0 end
end

-- The zset's entry of a tenant against what it should be; nil stands for none.
local function sweepEntry(set, counter, name, counted)
  local kept = tonumber((redis.call('ZSCORE', set, name)))
  if not differs(name, counter, kept or NONE, counted or NONE) then return end
  if counted then redis.call('ZADD', set, counted, name) else redis.call('ZREM', set, name) end
end

-- Moves nobody that nothing is wrong with: a cap that a deploy has lowered, say, is looked at when the tenant's turn comes.
local function sweepPlace(t, foundBefore)
  local listed = t.pos > 0 and redis.call('ZSCORE', key.rotation, member(t)) and 1 or 0
  differs(t.name, 'rotation', listed, t.ready > 0 and t.held == 0 and 1 or 0)
  if #found == foundBefore then return end
  if listed == 0 and t.pos > 0 then leave(t) end
  place(t)
end

local function sweepIndexes(t)
  local name, depth = t.name, t.ready + t.delayed
  local front, back = redis.call('LINDEX', readyKey(name), 0), redis.call('ZRANGE', returnedKey(name), 0, 0)[1]
  local since = front and readySinceOf(front)
  if back and not (since and since <= readySinceOf(back)) then since = readySinceOf(back) end
  sweepEntry(key.depths, 'depths', name, depth > 0 and depth or nil)
  sweepEntry(key.oldest, 'oldest', name, since or nil)
  sweepEntry(key.idle, 'idle', name, t.idle > 0 and t.idle or nil)
  sweepEntry(key.due, 'due', name, tonumber(redis.call('ZRANGE', delayedKey(name), 0, 0, 'WITHSCORES')[2]))
end

local swept = 0
for i = firstName, #ARGV do
  if redis.call('EXISTS', tenantKey(ARGV[i])) == 1 then
    local t = tenant(ARGV[i])
    local foundBefore = #found
    swept = swept + 1
    sweepCounters(t)
    sweepPlace(t, foundBefore)
    sweepIndexes(t)
  end
end

if differs('', 'flight', totals.flight, allFlight) then totals.flight = allFlight end
if withTotals and redis.call('ZCARD', key.depths) <= FEW_TENANTS then
  local sums = { ready = 0, delayed = 0, bytes = 0 }
  local servable = 0
  for _, name in ipairs(redis.call('ZRANGE', key.depths, 0, -1)) do
    local t = tenant(name)
    for counter, sum in pairs(sums) do sums[counter] = sum + t[counter] end
    if t.pos > 0 then servable = servable + t.ready end
  end
  for counter, sum in pairs(sums) do
    if differs('', counter, totals[counter], sum) then totals[counter] = sum end
  end
  if differs('', 'servable', clock.servable, servable) then clock.servable = servable end
end

-- Counted with the repair: a watcher that is overtaken or dies before it has told of it leaves the count to the next one.
if #found > 0 then
  redis.call('HINCRBY', key.monitor, 'repaired', #found / 4)
  commit()
  wake()
end
return { 'swept', now, swept, redis.call('HGET', key.monitor, 'repaired') or '0', unpack(found) }
