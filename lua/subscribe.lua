-- subscribe: replace a tenant's subscription record; it acts on the backlog at once.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 ifMatch ('' = whatever it was; else etags with commas between, or *), 3 plan, 4 weight, 5 maxDepth,
--   6 maxConcurrency, 7 maxBytes, 8 maxJobsPerSecond, 9 burst ('' = the record says nothing)
-- RETURNS subscribed, dispatch | unknown_plan, plan… | changed, etag
-- DERIVES tenant, record
-- INVARIANT what the tenant has waiting and in flight is not touched
local name, ifMatch, plan = ARGV[1], ARGV[2], ARGV[3]
local weight, maxDepth, maxConcurrency = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local maxBytes, rate, burst = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

if not config then return redis.error_reply(UNCONFIGURED) end
if plan ~= '' and not planOf(plan) then return unknownPlan() end

local t = tenant(name)
local etag = etagOf(t)
if ifMatch ~= '' and ifMatch ~= '*' and not string.find(',' .. ifMatch .. ',', ',' .. etag .. ',', 1, true) then
  return { 'changed', etag }
end
t.plan = plan
t.oweight, t.odepth, t.oconc = weight or NONE, maxDepth or NONE, maxConcurrency or NONE
t.obytes, t.orate, t.oburst = maxBytes or NONE, rate or NONE, burst or NONE
if maxBytes or rate or burst then
  redis.call('SET', recordKey(name), table.concat({ packRecord(t) }))
else
  redis.call('DEL', recordKey(name))
end
resolveLimits(t)
reweigh(t)
place(t)
commit()
wake()
return { 'subscribed', dispatcherNeeded() }
