-- claim: take up to so many visits in the fair order, each under a lease of its own that waits to be opened.
-- KEYS 1 prefix
-- ARGV 1 shard, 2 seed (random, makes lease ids and tokens), 3 maxVisits
-- RETURNS claimed|empty|no_capacity|paused|unopened, nowMs, inFlight, rotation, nextDueMs ('' = never),
--   then per visit: leaseId, token, tenant, jobs, lanes
-- DERIVES tenant, record, ready, returned, visit
-- INVARIANT visits in flight never exceed capacity; every visit is charged before the next is selected
local shard, seed, maxVisits = ARGV[1], ARGV[2], tonumber(ARGV[3])
local UNOPENED_MS = 2000

if not config then return redis.error_reply(UNCONFIGURED) end

local inFlight = visitsInFlight()
local refused = selectionRefused(inFlight)
-- A lease lapses openMs after its claim, so those claimed more than UNOPENED_MS ago lapse before this.
local stale = now + config.openMs - UNOPENED_MS
if not refused and redis.call('ZCOUNT', key.opening, '-inf', '(' .. stale) > config.unopenedLimit then
  refused = 'unopened'
end

local visits = {}
while not refused and #visits < 5 * maxVisits do
  local leaseId, token = nameLease(shard, seed, #visits)
  local l = nextVisit(leaseId, { token = token, oldToken = '', nonce = '', visit = 1 }, inFlight)
  if not l then
    refused = 'empty'
  else
    redis.call('ZADD', key.opening, now + config.openMs, leaseId)
    inFlight = inFlight + 1
    visits[#visits + 1] = leaseId
    visits[#visits + 1] = token
    visits[#visits + 1] = l.tenant
    visits[#visits + 1] = l.jobs
    visits[#visits + 1] = l.lanes
    refused = selectionRefused(inFlight)
  end
end

if refused == 'empty' then wake() end
if #visits > 0 then refused = 'claimed' end
if next(tenants) then commit() end
local nextDue
for _, set in ipairs({ key.due, key.held, key.opening, key.visits }) do
  local first = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  if first and (not nextDue or tonumber(first) < nextDue) then nextDue = tonumber(first) end
end
return { refused, now, inFlight, redis.call('ZCARD', key.rotation), nextDue or '', unpack(visits) }
