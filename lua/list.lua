-- list: a page of the tenants with waiting jobs, deepest first or longest waiting first. Reads only.
-- KEYS 1 prefix
-- ARGV 1 sort (depth | oldest), 2 offset, 3 limit
-- RETURNS tenants, nowMs, then per tenant a list of field and value in turn
-- DERIVES tenant, record
-- INVARIANT nothing is written
local sort, offset, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

if not config then return redis.error_reply(UNCONFIGURED) end
local names
if sort == 'depth' then
  names = redis.call('ZREVRANGE', key.depths, offset, offset + limit - 1)
else
  names = redis.call('ZRANGE', key.oldest, offset, offset + limit - 1)
end
local reply = { 'tenants', now }
for i = 1, #names do reply[#reply + 1] = viewOf(tenant(names[i])) end
return reply
