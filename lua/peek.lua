-- peek: some of a tenant's jobs that wait or have died, in order, without taking them. Reads only.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 state (ready: as they will be served | delayed: as they come due | dead: newest first), 3 left (jobs from
--   the first of the page to the last there is; 0 = from the very first on), 4 count (most jobs)
-- RETURNS peeked, nowMs, left (jobs behind the page), then per job: score (when it is due; of the others 0), record (of the dead
--   as stored: ms of death, error, record)
-- DERIVES tenant, record, ready, returned, delayed, dead
-- INVARIANT nothing is written; a page ends early rather than hold more than 1 MiB, and holds at least one job
local name, state, left, count = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local MOST_BYTES = 1024 * 1024

if not config then return redis.error_reply(UNCONFIGURED) end
local t = tenant(name)
local length = ({ ready = t.ready, delayed = t.delayed, dead = t.dead })[state]
-- Counted from the end: what joins the dead at their head moves nobody from one page to another.
local from = left > 0 and math.max(0, length - left) or 0
local page = {}

local function add(jobs, scored)
  for i = 1, #jobs, scored and 2 or 1 do page[#page + 1] = { scored and jobs[i + 1] or '0', jobs[i] } end
end

local to = from + count - 1
if state == 'delayed' then
  add(redis.call('ZRANGE', delayedKey(name), from, to, 'WITHSCORES'), true)
elseif state == 'dead' then
  add(redis.call('LRANGE', deadKey(name), from, to))
else
  if from < t.back then add(redis.call('ZRANGE', returnedKey(name), from, to)) end
  if to >= t.back then add(redis.call('LRANGE', readyKey(name), math.max(0, from - t.back), to - t.back)) end
end

local reply, bytes, shown = {}, 0, 0
for i = 1, #page do
  bytes = bytes + #page[i][2]
  if i > 1 and bytes > MOST_BYTES then break end
  shown = i
  reply[#reply + 1] = page[i][1]
  reply[#reply + 1] = page[i][2]
end
return { 'peeked', now, math.max(0, length - from - shown), unpack(reply) }
