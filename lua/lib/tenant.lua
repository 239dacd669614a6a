-- One tenant: its state, its place in the rotation, and the indexes over tenants. Rotation and counts are changed only here.
-- Well beyond a dispatcher's minute, so that a tenant whose cap is 0 keeps none at work; and how long a cap that a deploy has
-- raised may go unseen.
local RECHECK_MS = 300000

local TENANT_FORMAT = '>I4I4I4I4I4I4BI6dI6I6dI6I6I6I6I6I6I6HI6I6I6I6dddddBc0Bc0'
-- Added later, behind the rest: the release before does not know it and leaves it out of what it writes. Bit 4 of `held` is
-- kept here, since that release could not take it back.
local TENANT_MORE = '>dddBdI6'

local tenants = {}

local function packTenant(t)
  local limited = math.floor(t.held / RATE) % 2
  return struct.pack(TENANT_FORMAT, t.ready, t.back, t.delayed, t.dead, t.flight, t.lanes, t.held - RATE * limited, t.heldUntil, t.turn,
    t.epoch, t.pos, t.weight, t.served, t.done, t.failed, t.enqueued, t.ms, t.bytes, t.idle, t.refused,
    t.r1t, t.r1s, t.r2t, t.r2s, t.p95, t.mean, t.oweight, t.odepth, t.oconc, #t.claim, t.claim, #t.plan, t.plan)
    .. struct.pack(TENANT_MORE, t.obytes, t.orate, t.oburst, limited, t.level, t.levelAt)
end

-- The part of a record that the release before does not keep, under what it does keep of the same record.
local function packRecord(t)
  return struct.pack('>dddBc0', t.oweight, t.odepth, t.oconc, #t.plan, t.plan), struct.pack('>ddd', t.obytes, t.orate, t.oburst)
end

-- Differs whenever the record does.
local function etagOf(t) return string.sub(redis.sha1hex(table.concat({ packRecord(t) })), 1, 16) end

-- After a write by the release before: the rest of the record, unless that release was given another one meanwhile.
local function restoreRecord(t)
  t.obytes, t.orate, t.oburst, t.level, t.levelAt = NONE, NONE, NONE, 0, 0
  local kept = redis.call('GET', recordKey(t.name))
  local known = packRecord(t)
  if kept and string.sub(kept, 1, #known) == known and #kept == #known + 24 then
    t.obytes, t.orate, t.oburst = struct.unpack('>ddd', kept, #known + 1)
  end
end

local NEW_TENANT = struct.pack(TENANT_FORMAT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  NONE, NONE, NONE, NONE, NONE, 0, '', 0, '')

-- A tenant's state; one that Redis does not know is a new one. Read once a script, written by `commit`.
local function tenant(name)
  local t = tenants[name]
  if t then return t end
  local stored = redis.call('GET', tenantKey(name)) or NEW_TENANT
  local at, limited
  t = { name = name, stored = stored }
  t.ready, t.back, t.delayed, t.dead, t.flight, t.lanes, t.held, t.heldUntil, t.turn,
    t.epoch, t.pos, t.weight, t.served, t.done, t.failed, t.enqueued, t.ms, t.bytes, t.idle, t.refused,
    t.r1t, t.r1s, t.r2t, t.r2s, t.p95, t.mean, t.oweight, t.odepth, t.oconc, t.claim, t.plan, at =
    struct.unpack(TENANT_FORMAT, stored)
  if at <= #stored then
    t.obytes, t.orate, t.oburst, limited, t.level, t.levelAt = struct.unpack(TENANT_MORE, stored, at)
    t.held = t.held + RATE * limited
  else
    restoreRecord(t)
  end
  t.depthWas, t.readyWas, t.servedWas = t.ready + t.delayed, t.ready, t.served
  resolveLimits(t)
  tenants[name] = t
  return t
end

local function member(t) return string.format('%015d', t.pos) .. t.name end
local function memberName(m) return string.sub(m, 16) end

-- Ready jobs come or go; a tenant in the rotation takes the servable count along.
local function addReady(t, count, bytes)
  t.ready = t.ready + count
  t.bytes = t.bytes + bytes
  totals.ready = totals.ready + count
  totals.bytes = totals.bytes + bytes
  if t.pos > 0 then clock.servable = clock.servable + count end
end

local function addDelayed(t, count, bytes)
  t.delayed = t.delayed + count
  t.bytes = t.bytes + bytes
  totals.delayed = totals.delayed + count
  totals.bytes = totals.bytes + bytes
end

local function addFlight(t, count)
  t.flight = t.flight + count
  totals.flight = totals.flight + count
end

local function ownTurn(t)
  if t.epoch == clock.epoch then return t.turn end
  return 0
end

local function enter(t)
  t.turn = math.max(clock.v, ownTurn(t))
  t.epoch = clock.epoch
  t.pos = nextSequence()
  redis.call('ZADD', key.rotation, t.turn, member(t))
  clock.servable = clock.servable + t.ready
  clock.weights = clock.weights + t.weight
end

local function leave(t)
  redis.call('ZREM', key.rotation, member(t))
  t.pos = 0
  clock.servable = clock.servable - t.ready
  clock.weights = clock.weights - t.weight
  -- An empty rotation weighs exactly nothing: rounding never accumulates beyond a busy spell.
  if clock.servable == 0 then clock.weights = 0 end
end

-- True once something comes due before all else that is to: a dispatcher may block until later, and is woken.
local dueSooner = false

-- Notes when time will next make something of the tenant due; `set` is `due` or `held`.
local function comesDue(set, t, ms)
  local first = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  if not first or ms < tonumber(first) then dueSooner = true end
  redis.call('ZADD', set, ms, t.name)
end

-- In the rotation if and only if it has ready jobs and nothing holds it; called after anything that may change either.
local function place(t)
  holdBit(t, AT_CONCURRENCY, t.lanes >= t.maxConcurrency)
  holdBit(t, RATE, meterHolds(t, config.quantum))
  -- A backoff has its own entry, and at its end the meter is looked at again.
  if t.held % (2 * RATE) >= RATE and t.held < BACKING_OFF then
    comesDue(key.held, t, math.min(now + RECHECK_MS, limitedUntil(t, config.quantum)))
  end
  local should = t.ready > 0 and t.held == 0
  if should and t.pos == 0 then enter(t) end
  if t.pos > 0 and not should then leave(t) end
  -- No lane of its own will end and let it back in when its cap is raised by a deploy, so tick looks again.
  if t.held == AT_CONCURRENCY and t.lanes == 0 and t.ready > 0 then
    comesDue(key.held, t, now + RECHECK_MS)
  end
end

-- To the back of those that share its turn, for a tenant that stays in the rotation after its visit.
local function requeue(t)
  redis.call('ZREM', key.rotation, member(t))
  t.pos = nextSequence()
  redis.call('ZADD', key.rotation, t.turn, member(t))
end

-- Moves the turn of a tenant that may be in the rotation; its sequence, and so its rank among equals, stays.
local function moveTurn(t, turn)
  t.turn = turn
  if t.pos > 0 then redis.call('ZADD', key.rotation, turn, member(t)) end
end

-- The weight in force now; what is ahead of the virtual clock is rescaled, so that a change acts on the backlog at once.
local function reweigh(t)
  local weight = t.currentWeight
  if t.weight == weight then return end
  if t.weight > 0 and t.epoch == clock.epoch and t.turn > clock.v then
    moveTurn(t, clock.v + (t.turn - clock.v) * t.weight / weight)
  end
  if t.pos > 0 then clock.weights = clock.weights - t.weight + weight end
  t.weight = weight
end

local function isRecorded(t)
  return t.plan ~= '' or t.oweight ~= NONE or t.odepth ~= NONE or t.oconc ~= NONE or t.obytes ~= NONE or t.orate ~= NONE
    or t.oburst ~= NONE or t.held % 2 == PAUSED
end

-- The older ready-since of the two heads; the heads are read only when one of them may have moved.
local function indexOldest(t)
  local front = t.ready > t.back and redis.call('LINDEX', readyKey(t.name), 0)
  local back = t.back > 0 and redis.call('ZRANGE', returnedKey(t.name), 0, 0)[1]
  local since = front and readySinceOf(front)
  if back and not (since and since <= readySinceOf(back)) then since = readySinceOf(back) end
  if since then
    redis.call('ZADD', key.oldest, since, t.name)
  elseif t.readyWas > 0 then
    redis.call('ZREM', key.oldest, t.name)
  end
end

local function indexIdle(t)
  local idle = t.ready + t.delayed + t.flight + t.dead == 0 and not isRecorded(t)
  if idle and t.idle == 0 then
    t.idle = now + config.purgeMs
    redis.call('ZADD', key.idle, t.idle, t.name)
  elseif t.idle > 0 and not idle then
    t.idle = 0
    redis.call('ZREM', key.idle, t.name)
  end
end

local function saveTenant(t)
  local depth = t.ready + t.delayed
  if depth == 0 and t.depthWas > 0 then
    redis.call('ZREM', key.depths, t.name)
  elseif depth ~= t.depthWas then
    redis.call('ZADD', key.depths, depth, t.name)
  end
  if t.headMoved then indexOldest(t) end
  indexIdle(t)
  if t.served ~= t.servedWas then takeReading(t, t.servedWas) end
  local packed = packTenant(t)
  if packed ~= t.stored then redis.call('SET', tenantKey(t.name), packed) end
end

-- Writes what changed, and ends the busy period when the last job has gone.
local function commit()
  for _, t in pairs(tenants) do
    if not t.gone then saveTenant(t) end
  end
  if totals.served ~= servedBefore then takeReading(totals, servedBefore) end
  if busyBefore and totals.ready + totals.delayed + totals.flight == 0 then
    clock.epoch = clock.epoch + 1
    clock.v = 0
  end
  saveClock()
end

local function visitPossible()
  return clock.servable > 0 and not config.paused and visitsInFlight() < config.capacity
end

-- Wakes a dispatcher that blocks on the list; never more than one entry, however many ask.
local function wake()
  if (visitPossible() or dueSooner) and redis.call('LLEN', key.wake) == 0 then redis.call('RPUSH', key.wake, '1') end
end

-- 1 when there is work and no dispatcher's mark of life: the caller invokes one. The mark is set here, so one caller does.
local function dispatcherNeeded()
  if clock.servable + totals.delayed == 0 or config.paused then return 0 end
  if redis.call('SET', key.dispatcher, 'called', 'PX', 5000, 'NX') then return 1 end
  return 0
end
