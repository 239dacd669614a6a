-- configure: write the queue's settings, unless a newer deploy has written its own.
-- KEYS 1 prefix
-- ARGV 1 version, 2 settings (JSON, times in ms)
-- RETURNS configured | kept
-- DERIVES nothing
-- INVARIANT the version never falls; run-time overrides (paused, capacity) are left alone
local version, settings = tonumber(ARGV[1]), ARGV[2]

local stored = tonumber(redis.call('HGET', key.config, 'version'))
if stored and stored > version then return { 'kept' } end
config = cjson.decode(settings)
redis.call('HSET', key.config, 'version', version, 'settings', cmsgpack.pack(config))
local overrides = redis.call('HMGET', key.config, 'paused', 'capacity')
config.paused = overrides[1] == '1'
config.capacity = tonumber(overrides[2]) or config.capacity
wake()
return { 'configured' }
