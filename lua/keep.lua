-- keep: store what the watcher has to know at its next reading, unless another watcher has stored its own meanwhile.
-- KEYS 1 prefix
-- ARGV 1 follows (number of the reading that this one was made from, 0 = of none), 2 reading
-- RETURNS kept | overtaken
-- DERIVES nothing
-- INVARIANT each reading follows from the one stored before it, so that nothing is counted twice or passed over
local follows, reading = tonumber(ARGV[1]), ARGV[2]

local stored = tonumber(redis.call('HGET', key.monitor, 'number')) or 0
if stored ~= follows then return { 'overtaken' } end
redis.call('HSET', key.monitor, 'number', stored + 1, 'reading', reading)
return { 'kept' }
