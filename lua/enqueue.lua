-- enqueue: admit a batch of one tenant's jobs and push them, all or none. A refusal writes nothing.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 claimPlan ('' = none), 3 onceField ('k:' + the caller's key or 'n:' + a nonce), 4 digest (of the batch),
--   5 enqueueId (10 bytes), then jobs: 6 bytes of delay in ms, and route, cost, most attempts, timeout and body as the record holds them
-- RETURNS accepted, jobs, depth, dispatch | repeated, enqueueId, jobs, depth | conflict | unknown_plan, plan…
--   | full, cap, used, limit, needed, waiting (jobs under that cap), depth, room, tenantRate, queueRate, weightShare, rateCap
-- DERIVES tenant, record, ready, returned, delayed, once
-- INVARIANT after an accepted enqueue no cap is passed; a tenant in the rotation is not moved by it
local name, claimPlan, onceField, digest, enqueueId, firstJob = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], 6
-- A nonce only has to outlive the second try after a lost reply.
local NONCE_MS = 60000
-- Of a job as it is given, before its body.
local GIVEN_BYTES = 18
local count = #ARGV - firstJob + 1

if not config then return redis.error_reply(UNCONFIGURED) end

local answer = redis.call('HGET', onceKey(name), onceField)
local expiresAt = answer and redis.call('ZSCORE', key.onces, onceField .. '\0' .. name)
if expiresAt and tonumber(expiresAt) > now then
  local length, jobs, depth = struct.unpack('>BHI6', answer)
  if string.sub(answer, 10, 9 + length) ~= digest then return { 'conflict' } end
  return { 'repeated', string.sub(answer, 10 + length), jobs, depth }
end

if claimPlan ~= '' and not planOf(claimPlan) then return unknownPlan() end

local t = tenant(name)
if claimPlan ~= '' and t.claim ~= claimPlan then
  t.claim = claimPlan
  resolveLimits(t)
end
local sizes = {}
for i = 1, count do sizes[i] = #ARGV[firstJob + i - 1] - GIVEN_BYTES end
local cap, used, limit, needed, waiting = capPassed(t, sizes)
if cap then
  local others = clock.weights
  if t.pos > 0 then others = others - t.weight end
  return { 'full', cap, exact(used), exact(limit), needed, waiting, t.ready + t.delayed, roomFor(t, sizes), exact(rateOf(t, t.served)),
    exact(rateOf(totals, totals.served)), exact(t.currentWeight / (others + t.currentWeight)), exact(t.rate) }
end

reweigh(t)
if t.ready == 0 then t.headMoved = true end
local ready, readyBytes = {}, 0
for i = 0, count - 1 do
  local given = ARGV[firstJob + i]
  local delayMs = struct.unpack('>I6', given)
  local job = newRecord(nextSequence(), now + delayMs, enqueueId, i, string.sub(given, 7))
  if delayMs > 0 then
    delay(t, job, now + delayMs)
  else
    ready[#ready + 1] = job
    readyBytes = readyBytes + bodyBytes(job)
  end
end
if #ready > 0 then
  redis.call('RPUSH', readyKey(name), unpack(ready))
  addReady(t, #ready, readyBytes)
end
t.enqueued = t.enqueued + count
totals.enqueued = totals.enqueued + count
place(t)
local depth = t.ready + t.delayed
redis.call('HSET', onceKey(name), onceField, struct.pack('>BHI6', #digest, count, depth) .. digest .. enqueueId)
local onceMs = string.sub(onceField, 1, 2) == 'k:' and config.idempotencyMs or NONCE_MS
redis.call('ZADD', key.onces, now + onceMs, onceField .. '\0' .. name)
commit()
wake()
return { 'accepted', count, depth, dispatcherNeeded() }
