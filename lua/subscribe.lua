-- subscribe: replace a tenant's subscription record; it acts on the backlog at once.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 plan, 3 weight, 4 maxDepth, 5 maxConcurrency ('' = the record says nothing)
-- RETURNS subscribed, dispatch | unknown_plan, plan…
-- DERIVES tenant
-- INVARIANT what the tenant has waiting and in flight is not touched
local name, plan = ARGV[1], ARGV[2]
local weight, maxDepth, maxConcurrency = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

if not config then return redis.error_reply(UNCONFIGURED) end
if plan ~= '' and not planOf(plan) then return unknownPlan() end

local t = tenant(name)
t.plan = plan
t.oweight, t.odepth, t.oconc = weight or NONE, maxDepth or NONE, maxConcurrency or NONE
resolveLimits(t)
reweigh(t)
place(t)
commit()
wake()
return { 'subscribed', dispatcherNeeded() }
