-- Where jobs go when they leave a visit: back to their place, to a later time, or to the dead letters.

-- Back into `returned` under its own sequence, ahead of everything that was pushed after it.
local function giveBack(t, job)
  redis.call('ZADD', returnedKey(t.name), (struct.unpack('>I6', job, 3)), job)
  t.back = t.back + 1
  t.headMoved = true
  addReady(t, 1, bodyBytes(job))
end

local function delay(t, job, dueMs)
  redis.call('ZADD', delayedKey(t.name), dueMs, job)
  addDelayed(t, 1, bodyBytes(job))
  local due = redis.call('ZSCORE', key.due, t.name)
  if not due or dueMs < tonumber(due) then comesDue(key.due, t, dueMs) end
end

-- To the head of the tenant's dead letters; beyond the cap the oldest is dropped and counted.
local function bury(t, job, reason)
  local dead = struct.pack('>I6Hc0', now, #reason, reason) .. job
  local length = redis.call('LPUSH', deadKey(t.name), dead)
  totals.died = totals.died + 1
  if length > config.deadLetters then
    -- Not LTRIM, for which "up to the end" and a cap of 0 are the same range.
    redis.call('RPOP', deadKey(t.name), length - config.deadLetters)
    totals.dropped = totals.dropped + length - config.deadLetters
    addDead(t, config.deadLetters - length)
  end
  addDead(t, 1)
end

-- One more attempt used. Returns the changed job, or nil after burying the one that had no attempt left.
local function useAttempt(t, job, flags, reason)
  local attempts, most = string.byte(job, 2) + 1, string.byte(job, 42)
  local tried = changed(job, flags, attempts)
  if attempts < most then return tried end
  bury(t, tried, reason)
  return nil
end

-- p95: steps up by a quarter of the excess (at least an eighth of itself) and down by 1/152 of itself, so that steps
-- balance where one in twenty is above; heavy tails push it higher, which only shortens visits.
local function learnDuration(t, ms)
  if t.p95 == NONE then
    t.p95 = ms
  elseif ms > t.p95 then
    t.p95 = t.p95 + math.max((ms - t.p95) / 4, t.p95 / 8)
  else
    t.p95 = t.p95 - t.p95 / 152
  end
  t.mean = t.mean == NONE and ms or t.mean + (ms - t.mean) / 16
  t.ms = t.ms + ms
end

-- The jobs go back as if the visit had never taken them, and the charge with them.
local function refund(t, l, jobs)
  if #jobs == 0 then return end
  local cost, spent = 0, 0
  for i = 1, #jobs do
    cost = cost + costOf(jobs[i])
    if spendsToken(jobs[i]) then spent = spent + 1 end
    giveBack(t, jobs[i])
  end
  fillMeter(t, -spent)
  addFlight(t, -#jobs)
  t.served = t.served - #jobs
  totals.served = totals.served - #jobs
  if t.epoch == l.epoch then moveTurn(t, t.turn - cost / l.weight) end
end

-- Frees the slot and the lanes of a visit, whose jobs the caller has dealt with or is about to.
local function endVisit(t, leaseId, l)
  redis.call('DEL', visitKey(leaseId))
  redis.call('ZREM', key.visits, leaseId)
  redis.call('ZREM', key.opening, leaseId)
  t.lanes = t.lanes - l.lanes
end
