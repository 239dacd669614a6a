-- survey: readings of a slice of the tenants with waiting jobs, and of named ones, for who watches the queue. Reads only.
-- KEYS 1 prefix
-- ARGV 1 cursor ('' = no slice, 0 = the first), 2 count (of the slice, about), then names of tenants
-- RETURNS surveyed, nowMs, cursor (0 = there is no further slice), queue's jobs per second (-1 = nothing served lately), over ms,
--   then per tenant a list: tenant, plan, weight, ready, delayed, flight, held, oldest ready since ('' = none), enqueued,
--   served, jobs per second, over ms
-- DERIVES tenant, record
-- INVARIANT nothing is written; a tenant with waiting jobs throughout is in some slice, perhaps in more than one
local cursor, count, firstName = ARGV[1], tonumber(ARGV[2]), 3

if not config then return redis.error_reply(UNCONFIGURED) end

local function readingOf(t)
  local rate, span = rateOf(t, t.served)
  return {
    t.name, t.planName, exact(t.currentWeight), t.ready, t.delayed, t.flight, t.held,
    redis.call('ZSCORE', key.oldest, t.name) or '', t.enqueued, t.served, exact(rate), span,
  }
end

local names = {}
if cursor ~= '' then
  -- Ranks move while jobs come and go, and a page by rank would pass tenants over; a scan of the set does not.
  local page = redis.call('ZSCAN', key.depths, cursor, 'COUNT', count)
  cursor = page[1]
  for i = 1, #page[2], 2 do names[#names + 1] = page[2][i] end
end
for i = firstName, #ARGV do names[#names + 1] = ARGV[i] end

local queueRate, queueSpan = rateOf(totals, totals.served)
local reply = { 'surveyed', now, cursor, exact(queueRate), queueSpan }
for i = 1, #names do reply[#reply + 1] = readingOf(tenant(names[i])) end
return reply
