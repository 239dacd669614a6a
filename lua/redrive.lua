-- redrive: put a dead letter of a tenant back to wait, or a slice of them, the oldest first, as far as its caps allow.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 id (12 bytes; '' = all that fit), 3 from (where in the list to look for it)
-- RETURNS redriven, count, remaining, more (1 = call again), dispatch | absent, next (where to go on looking; 0 = it is nowhere)
-- DERIVES tenant, record, ready, returned, dead
-- INVARIANT a redriven job is new but for its id and the time of its enqueue: all attempts before it, at the tail
local name, id, from = ARGV[1], ARGV[2], tonumber(ARGV[3])
local SLICE = 200

if not config then return redis.error_reply(UNCONFIGURED) end
local t = tenant(name)
local dead
if id == '' then
  dead = redis.call('LRANGE', deadKey(name), -SLICE, -1)
else
  local found = findDead(t, id, from, SLICE)
  if not found then return { 'absent', from + SLICE < t.dead and from + SLICE or 0 } end
  dead = { found }
end

local jobs, sizes = {}, {}
for i = #dead, 1, -1 do
  local job = recordOf(dead[i])
  jobs[#jobs + 1], sizes[#sizes + 1] = job, bodyBytes(job)
end
local fits = roomFor(t, sizes)
local bytes = 0
for i = 1, fits do
  jobs[i] = changed(jobs[i], 0, 0, nextSequence(), now)
  bytes = bytes + sizes[i]
end
if fits > 0 then
  if id == '' then redis.call('RPOP', deadKey(name), fits) else redis.call('LREM', deadKey(name), 1, dead[1]) end
  reweigh(t)
  if t.ready == 0 then t.headMoved = true end
  redis.call('RPUSH', readyKey(name), unpack(jobs, 1, fits))
  addDead(t, -fits)
  addReady(t, fits, bytes)
  place(t)
  commit()
  wake()
end
return { 'redriven', fits, t.dead, id == '' and fits == #dead and t.dead > 0 and 1 or 0, fits > 0 and dispatcherNeeded() or 0 }
