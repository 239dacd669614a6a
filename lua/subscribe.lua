-- subscribe: replace a tenant's subscription record; it acts on the backlog at once.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 plan, 3 weight, 4 maxDepth, 5 maxConcurrency ('' = the record says nothing)
-- RETURNS subscribed, dispatch | unknown_plan, plan…
-- DERIVES tenant
-- INVARIANT what the tenant has waiting and in flight is not touched
local name, plan = ARGV[1], ARGV[2]
local weight, maxDepth, maxConcurrency = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

if not config then return redis.error_reply(UNCONFIGURED) end
if plan ~= '' and not config.plans[plan] then
  local reply = { 'unknown_plan' }
  for known in pairs(config.plans) do reply[#reply + 1] = known end
  return reply
end

local t = tenant(name)
t.plan = plan ~= '' and plan or nil
t.oweight, t.odepth, t.oconc = weight, maxDepth, maxConcurrency
resolveLimits(t)
reweigh(t)
place(t)
commit()
wake()
return { 'subscribed', dispatcherNeeded() }
