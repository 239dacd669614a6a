-- inspect: one tenant's state and limits. Reads only; an unknown tenant is an idle one.
-- KEYS 1 prefix
-- ARGV 1 tenant
-- RETURNS tenant, nowMs, then field and value in turn
-- DERIVES tenant, record
-- INVARIANT nothing is written
local name = ARGV[1]

if not config then return redis.error_reply(UNCONFIGURED) end
return { 'tenant', now, unpack(viewOf(tenant(name))) }
