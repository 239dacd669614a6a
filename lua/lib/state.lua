-- The queue's own state: time, configuration, virtual clock, totals. A script reads each once, changes tables, and
-- `commit` (lib/tenant.lua) writes what changed. Packed strings, because reading two dozen hash fields costs several times
-- as much as a visit's own work. Numbers handed to redis.call arrive with 17 digits.
local serverTime = redis.call('TIME')
local now = tonumber(serverTime[1]) * 1000 + math.floor(tonumber(serverTime[2]) / 1000)

-- A double as text that reads back as the same double: a number in a reply would be cut to an integer.
local function exact(number) return string.format('%.17g', number) end

local CLOCK_FORMAT = '>' .. string.rep('d', 24)
local clockStored = redis.call('GET', key.clock)
local clock, totals = {}, {}
clock.v, clock.epoch, clock.seq, clock.servable, clock.weights,
  totals.ready, totals.delayed, totals.flight, totals.dead, totals.bytes,
  totals.enqueued, totals.served, totals.done, totals.failed, totals.died, totals.dropped, totals.late,
  totals.crashed, totals.lapsed, totals.purged,
  totals.r1t, totals.r1s, totals.r2t, totals.r2s = struct.unpack(CLOCK_FORMAT, clockStored or string.rep('\0', 192))
local busyBefore = totals.ready + totals.delayed + totals.flight > 0
local servedBefore = totals.served

local function saveClock()
  local packed = struct.pack(CLOCK_FORMAT, clock.v, clock.epoch, clock.seq, clock.servable, clock.weights,
    totals.ready, totals.delayed, totals.flight, totals.dead, totals.bytes,
    totals.enqueued, totals.served, totals.done, totals.failed, totals.died, totals.dropped, totals.late,
    totals.crashed, totals.lapsed, totals.purged, totals.r1t, totals.r1s, totals.r2t, totals.r2s)
  if packed ~= clockStored then redis.call('SET', key.clock, packed) end
end

-- What was added later stands behind: the release before reads as far as it knows, and what it has written ends there.
local CONFIG_FORMAT, CONFIG_MORE = '>dddddddddddBc0', '>dd'
local PLAN_FORMAT, PLAN_MORE = '>ddd', '>ddd'
local function readConfig()
  local stored = redis.call('HMGET', key.config, 'settings', 'paused', 'capacity')
  if not stored[1] then return nil end
  local at
  local read = { maxQueueDepth = -1, maxQueueBytes = -1 }
  read.quantum, read.capacity, read.visitConcurrency, read.maxVisitMs, read.spreadMs, read.leaseMs,
    read.openMs, read.unopenedLimit, read.deadLetters, read.idempotencyMs, read.purgeMs,
    read.defaultPlan, at = struct.unpack(CONFIG_FORMAT, stored[1])
  if at <= #stored[1] then read.maxQueueDepth, read.maxQueueBytes = struct.unpack(CONFIG_MORE, stored[1], at) end
  read.paused = stored[2] == '1'
  read.deployedCapacity = read.capacity
  read.capacity = tonumber(stored[3]) or read.capacity
  return read
end
local config = readConfig()
-- An empty Redis knows no plans; the client configures it and asks again.
local UNCONFIGURED = 'UNCONFIGURED the queue has no configuration in this Redis yet'

-- The plan of that name, nil when the configuration has none.
local plans = {}
local function planOf(name)
  if plans[name] == nil then
    local packed = redis.call('HGET', key.config, 'plan:' .. name)
    plans[name] = false
    if packed then
      local at
      local plan = { maxBytes = -1, rate = -1, burst = -1 }
      plan.weight, plan.maxDepth, plan.maxConcurrency, at = struct.unpack(PLAN_FORMAT, packed)
      if at <= #packed then plan.maxBytes, plan.rate, plan.burst = struct.unpack(PLAN_MORE, packed, at) end
      plans[name] = plan
    end
  end
  return plans[name] or nil
end

-- The refusal of a plan that is not among those configured, naming them. Sorted, since a hash has no order of its own.
local function unknownPlan()
  local reply = {}
  for _, field in ipairs(redis.call('HKEYS', key.config)) do
    if string.sub(field, 1, 5) == 'plan:' then reply[#reply + 1] = string.sub(field, 6) end
  end
  table.sort(reply)
  table.insert(reply, 1, 'unknown_plan')
  return reply
end

local function nextSequence()
  clock.seq = clock.seq + 1
  return clock.seq
end

local function visitsInFlight()
  return redis.call('ZCARD', key.opening) + redis.call('ZCARD', key.visits)
end

-- Two readings of a growing count, the older one 60 to 120 s old while work goes on: the rate is a difference.
local READING_MS = 60000
local function takeReading(fields, count)
  local age = now - fields.r2t
  if age > 2 * READING_MS then
    fields.r1t, fields.r1s, fields.r2t, fields.r2s = now, count, now, count
  elseif age >= READING_MS then
    fields.r1t, fields.r1s, fields.r2t, fields.r2s = fields.r2t, fields.r2s, now, count
  end
end

-- Jobs per second since the older reading, and its age in ms; -1 while it tells nothing: under a second old, or nothing since.
local function rateOf(fields, count)
  local span = now - fields.r1t
  if fields.r1t == 0 or span < 1000 or now - fields.r2t > 2 * READING_MS or count <= fields.r1s then return -1, 0 end
  return (count - fields.r1s) * 1000 / span, span
end
