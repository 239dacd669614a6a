-- settle: report jobs of an open visit done, failed or given back, by index; the last one ends the visit and may claim the next.
-- KEYS 1 prefix
-- ARGV 1 leaseId, 2 token, 3 seed (random, makes the next token; '' = claim no next visit),
--   then results: index (2 bytes), result (1: 1 done, 2 failed, 3 dead, 4 given back, 5 unfinished), duration in ms (4),
--   retry delay in ms (6), error text
-- RETURNS settled, left, yield | ended | continued, nowMs, expiresMs, token, visit, tenant, lanes, then per job: index, record | stale
-- DERIVES tenant, record, ready, returned, delayed, dead, visit
-- INVARIANT a job leaves its visit once; what goes back does so after the next visit is claimed
local leaseId, token, seed, firstResult = ARGV[1], ARGV[2], ARGV[3], 4
local DONE, FAILED, DEAD, GIVEN_BACK = 1, 2, 3, 4

if not config then return { 'stale' } end
local stored = redis.call('LRANGE', visitKey(leaseId), 0, -1)
local l = stored[1] and unpackLease(table.remove(stored, 1))
if l and l.oldToken == token and l.nonce ~= '' then
  -- The reply to the settle that ended the last visit was lost: the same answer again.
  redis.call('ZADD', key.visits, now + config.leaseMs, leaseId)
  return openedReply('continued', l, now + config.leaseMs, stored)
end
if not l or l.token ~= token or l.nonce == '' then
  totals.late = totals.late + 1
  commit()
  return { 'stale' }
end

local t = tenant(l.tenant)
local back, cutShort, settled = {}, {}, {}
for i = firstResult, #ARGV do
  local index, result, durationMs, delayMs, at = struct.unpack('>HBI4I6', ARGV[i])
  local reason = string.sub(ARGV[i], at)
  local job = stored[index]
  if index > 0 and job and job ~= '' then
    stored[index] = ''
    l.left = l.left - 1
    if result == GIVEN_BACK then
      back[#back + 1] = job
    else
      learnDuration(t, durationMs)
      if result == DONE then
        addFlight(t, -1)
        t.done = t.done + 1
        totals.done = totals.done + 1
      else
        t.failed = t.failed + 1
        totals.failed = totals.failed + 1
        if result == FAILED then
          addFlight(t, -1)
          local retry = useAttempt(t, job, RETRY, reason)
          if retry then delay(t, retry, now + delayMs) end
        elseif result == DEAD then
          addFlight(t, -1)
          bury(t, changed(job, 0, string.byte(job, 2) + 1), reason)
        else
          cutShort[#cutShort + 1] = { job, reason }
        end
      end
    end
    settled[#settled + 1] = index
  end
end

local ended = l.left == 0
local nextLease, nextJobs
if ended then
  endVisit(t, leaseId, l)
  place(t)
  local inFlight = visitsInFlight()
  if seed ~= '' and not selectionRefused(inFlight) then
    local _, nextToken = nameLease('', seed, 0)
    nextLease, nextJobs = nextVisit(leaseId, { token = nextToken, oldToken = token, nonce = l.nonce, visit = l.visit + 1 }, inFlight)
    if nextLease then redis.call('ZADD', key.visits, now + config.leaseMs, leaseId) end
  end
else
  redis.call('LSET', visitKey(leaseId), 0, packLease(l))
  for i = 1, #settled do redis.call('LSET', visitKey(leaseId), settled[i], '') end
end

refund(t, l, back)
for i = 1, #cutShort do
  addFlight(t, -1)
  local job = useAttempt(t, cutShort[i][1], 0, cutShort[i][2])
  if job then giveBack(t, job) end
end
place(t)
commit()
wake()

if nextLease then return openedReply('continued', nextLease, now + config.leaseMs, nextJobs) end
if ended then return { 'ended' } end
return { 'settled', l.left, yieldAsked() }
