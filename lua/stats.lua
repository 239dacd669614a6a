-- stats: the queue's totals, capacity and clock. Reads only.
-- KEYS 1 prefix
-- RETURNS stats, nowMs, then field and value in turn
-- DERIVES nothing
-- INVARIANT nothing is written
if not config then return redis.error_reply(UNCONFIGURED) end
local opening, open = redis.call('ZCARD', key.opening), redis.call('ZCARD', key.visits)
local reply = {
  'stats', now, 'paused', config.paused and 1 or 0, 'capacity', config.capacity, 'deployedCapacity', config.deployedCapacity,
  'visitsInFlight', opening + open, 'visitsUnopened', opening, 'rotation', redis.call('ZCARD', key.rotation),
  'waitingTenants', redis.call('ZCARD', key.depths),
  'oldest', redis.call('ZRANGE', key.oldest, 0, 0, 'WITHSCORES')[2] or '',
  'dispatcher', redis.call('EXISTS', key.dispatcher), 'rate', exact(rateOf(totals, totals.served)), 'v', exact(clock.v),
}
for _, name in ipairs({
  'ready', 'delayed', 'flight', 'dead', 'bytes', 'enqueued', 'served', 'done', 'failed', 'died', 'dropped', 'late',
  'crashed', 'lapsed',
}) do
  reply[#reply + 1] = name
  reply[#reply + 1] = totals[name]
end
return reply
