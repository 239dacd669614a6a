-- The queue's own state: time, configuration, virtual clock, totals. A script reads each once, changes tables, and
-- writes what changed in one `commit` (lib/tenant.lua). Numbers handed to redis.call arrive with 17 digits.
local serverTime = redis.call('TIME')
local now = tonumber(serverTime[1]) * 1000 + math.floor(tonumber(serverTime[2]) / 1000)

-- A double as text that reads back as the same double: a number in a reply would be cut to an integer.
local function exact(number) return string.format('%.17g', number) end

local CLOCK = { 'v', 'epoch', 'seq', 'servable', 'weights' }
local TOTALS = {
  'ready', 'delayed', 'flight', 'dead', 'bytes',
  'enqueued', 'served', 'done', 'failed', 'died', 'dropped', 'late', 'crashed', 'lapsed',
  'r1t', 'r1s', 'r2t', 'r2s',
}

-- Reads the named number fields of a hash, 0 where absent. Returns the fields, and a copy to tell what changed.
local function readNumbers(hashKey, names)
  local values = redis.call('HMGET', hashKey, unpack(names))
  local fields, was = {}, {}
  for i = 1, #names do
    local value = tonumber(values[i]) or 0
    fields[names[i]] = value
    was[names[i]] = value
  end
  return fields, was
end

local function saveNumbers(hashKey, names, fields, was)
  local changed = {}
  for i = 1, #names do
    local name = names[i]
    if fields[name] ~= was[name] then
      changed[#changed + 1] = name
      changed[#changed + 1] = fields[name]
    end
  end
  if #changed > 0 then redis.call('HSET', hashKey, unpack(changed)) end
end

local clock, clockWas = readNumbers(key.clock, CLOCK)
local totals, totalsWas = readNumbers(key.totals, TOTALS)

local config
do
  local stored = redis.call('HMGET', key.config, 'settings', 'paused', 'capacity')
  if stored[1] then
    config = cmsgpack.unpack(stored[1])
    config.paused = stored[2] == '1'
    config.capacity = tonumber(stored[3]) or config.capacity
  end
end
-- An empty Redis knows no plans; the client configures it and asks again.
local UNCONFIGURED = 'UNCONFIGURED the queue has no configuration in this Redis yet'

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

-- Jobs per second since the older reading, and its age in ms; -1 while it tells nothing: less than a second old, or nothing since.
local function rateOf(fields, count)
  local span = now - fields.r1t
  if fields.r1t == 0 or span < 1000 or now - fields.r2t > 2 * READING_MS or count <= fields.r1s then return -1, 0 end
  return (count - fields.r1s) * 1000 / span, span
end
