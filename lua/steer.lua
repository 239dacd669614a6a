-- steer: the operator's word on the queue as a whole: paused or not, another capacity than the deployed one. It outlives deploys.
-- KEYS 1 prefix
-- ARGV 1 paused (1, 0; '' = as it is), 2 capacity (visits; 'deployed' = no other; '' = as it is)
-- RETURNS steered, dispatch
-- DERIVES nothing
-- INVARIANT visits in flight go on, also those above a lowered capacity
local paused, capacity = ARGV[1], ARGV[2]

if not config then return redis.error_reply(UNCONFIGURED) end
if paused == '1' then redis.call('HSET', key.config, 'paused', '1') end
if paused == '0' then redis.call('HDEL', key.config, 'paused') end
if capacity == 'deployed' then
  redis.call('HDEL', key.config, 'capacity')
elseif capacity ~= '' then
  redis.call('HSET', key.config, 'capacity', capacity)
end
config = readConfig()
wake()
return { 'steered', dispatcherNeeded() }
