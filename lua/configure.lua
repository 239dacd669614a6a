-- configure: write the queue's settings, unless a newer deploy has written its own.
-- KEYS 1 prefix
-- ARGV 1 version, 2 settings (JSON, times in ms)
-- RETURNS configured | kept
-- DERIVES nothing
-- INVARIANT the version never falls; run-time overrides (paused, capacity) are left alone
local version, settings = tonumber(ARGV[1]), ARGV[2]

local stored = tonumber(redis.call('HGET', key.config, 'version'))
if stored and stored > version then return { 'kept' } end
local given = cjson.decode(settings)
for _, field in ipairs(redis.call('HKEYS', key.config)) do
  if string.sub(field, 1, 5) == 'plan:' then redis.call('HDEL', key.config, field) end
end
local function stated(limit) return type(limit) == 'number' and limit or NONE end
for name, plan in pairs(given.plans) do
  local packed = struct.pack(PLAN_FORMAT, plan.weight, plan.maxDepth, plan.maxConcurrency)
    .. struct.pack(PLAN_MORE, stated(plan.maxBytes), stated(plan.maxJobsPerSecond), stated(plan.burst))
  redis.call('HSET', key.config, 'plan:' .. name, packed)
end
redis.call('HSET', key.config, 'version', version, 'settings', struct.pack(CONFIG_FORMAT, given.quantum, given.capacity,
  given.visitConcurrency, given.maxVisitMs, given.spreadMs, given.leaseMs, given.openMs, given.unopenedLimit,
  given.deadLetters, given.idempotencyMs, given.purgeMs, #given.defaultPlan, given.defaultPlan)
  .. struct.pack(CONFIG_MORE, stated(given.maxQueueDepth), stated(given.maxQueueBytes)))

-- A raised capacity makes visits possible now.
config = readConfig()
wake()
return { 'configured' }
