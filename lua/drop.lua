-- drop: remove a dead letter of a tenant, or all of them.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 id (12 bytes; '' = all), 3 from (where in the list to look for it)
-- RETURNS dropped, count | absent, next (where to go on looking; 0 = it is nowhere)
-- DERIVES tenant, record, dead
-- INVARIANT what waits and what is in flight is not touched
local name, id, from = ARGV[1], ARGV[2], tonumber(ARGV[3])
local SLICE = 200

if not config then return redis.error_reply(UNCONFIGURED) end
local t = tenant(name)
local count = t.dead
if id == '' then
  redis.call('UNLINK', deadKey(name))
else
  local found = findDead(t, id, from, SLICE)
  if not found then return { 'absent', from + SLICE < t.dead and from + SLICE or 0 } end
  count = redis.call('LREM', deadKey(name), 1, found)
end
if count > 0 then
  addDead(t, -count)
  commit()
end
return { 'dropped', count }
