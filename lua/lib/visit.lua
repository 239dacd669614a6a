-- The fair order: select the least recently served tenant, take what one visit may take, charge it. Start-time fair
-- queueing over tenants (Goyal, Vin, Cheng 1997) with visits sized like deficit round robin's (Shreedhar, Varghese 1996);
-- the steps are numbered in lua/README.md and stated again as a model that must agree.
local MOST_JOBS, MOST_BYTES, SLICE = 1000, 4 * 1024 * 1024, 32
local MOST_PASSED_OVER = 50

-- How many jobs the visit may take at most, by expected duration and by the number of free slots.
local function mostJobs(t, lanes, free)
  local even = math.ceil(clock.servable / free)
  local length, quick = 1, 0
  if t.p95 ~= NONE then
    local expected = math.max(t.p95, 1)
    if t.p95 <= config.maxVisitMs then length = math.floor(config.maxVisitMs * lanes / expected) end
    if t.p95 < config.spreadMs then
      quick = math.floor(config.spreadMs * lanes / expected)
      if t.p95 * quick / lanes >= config.spreadMs then quick = quick - 1 end
      quick = math.max(quick, lanes)
    end
  end
  return math.max(1, math.min(length, math.max(even, quick), MOST_JOBS))
end

-- Takes jobs from the head of the tenant's list, `returned` before `ready`: the first always, further ones while they fit.
-- Returns them, their cost, the bytes of their bodies, and the tokens that they spend.
local function take(t, most, budget)
  local taken, count, cost, bytes, spent = {}, 0, 0, 0, 0
  local tokens = tokensOf(t)
  local route, alone
  local function fits(job)
    return count < most and string.byte(job, 33) == route and not alone and string.byte(job, 1) % 2 ~= ALONE
      and cost + costOf(job) <= budget and bytes + bodyBytes(job) <= MOST_BYTES
      and (spent < tokens or not spendsToken(job))
  end
  -- Walks one list in slices; returns how many of its first `length` jobs were taken.
  local function walk(command, listKey, length)
    local from = 0
    while from < length and count < most do
      local slice = redis.call(command, listKey, from, from + math.min(SLICE, most - count) - 1)
      if #slice == 0 then return from end
      for i = 1, #slice do
        local job = slice[i]
        if count == 0 then
          route, alone = string.byte(job, 33), string.byte(job, 1) % 2 == ALONE
        elseif not fits(job) then
          return from + i - 1
        end
        count = count + 1
        taken[count] = job
        cost = cost + costOf(job)
        bytes = bytes + bodyBytes(job)
        if spendsToken(job) then spent = spent + 1 end
      end
      from = from + #slice
    end
    return from
  end
  local back = 0
  if t.back > 0 then
    back = walk('ZRANGE', returnedKey(t.name), t.back)
    if back > 0 then redis.call('ZREMRANGEBYRANK', returnedKey(t.name), 0, back - 1) end
  end
  if back == t.back and t.ready > t.back then
    local front = walk('LRANGE', readyKey(t.name), t.ready - t.back)
    if front > 0 then redis.call('LTRIM', readyKey(t.name), front, -1) end
  end
  t.back = t.back - back
  return taken, cost, bytes, spent
end

-- Why no visit can be claimed right now, whoever's turn it is; nil when one can.
local function selectionRefused(inFlight)
  if config.paused then return 'paused' end
  if inFlight >= config.capacity then return 'no_capacity' end
  return nil
end

-- The tenant to visit next, nil when there is none. A deploy that lowers a plan's maxConcurrency moves nobody, so its
-- tenants leave the rotation here, at their turn; beyond a slice of those the caller has to come again (`wake` says so).
local function head()
  for _ = 0, MOST_PASSED_OVER do
    local first = redis.call('ZRANGE', key.rotation, 0, 0)[1]
    if not first then return nil end
    local t = tenant(memberName(first))
    place(t)
    if t.pos > 0 then return t end
  end
  return nil
end

-- Jobs that are counted but not there, because somebody deleted a key by hand, are believed no longer: else their tenant
-- would stay at the head for ever, with nothing to visit.
local function recount(t)
  local back, front = redis.call('ZCARD', returnedKey(t.name)), redis.call('LLEN', readyKey(t.name))
  local bytes = back + front + t.delayed == 0 and t.bytes or 0
  t.back = back
  t.headMoved = true
  addReady(t, back + front - t.ready, -bytes)
  place(t)
end

-- Selects a tenant and takes its visit under the given lease (id, token, nonce, visit number), charging it.
-- Returns the lease and its jobs, or nil when there is nobody to visit. The caller puts the lease into `opening` or `visits`.
local function nextVisit(leaseId, l, inFlight)
  local t = head()
  if not t then return nil end
  clock.v = math.max(clock.v, t.turn)
  reweigh(t)
  local lanes = math.max(1, math.min(config.visitConcurrency, t.maxConcurrency - t.lanes))
  local jobs, cost, bytes, spent = take(t, mostJobs(t, lanes, config.capacity - inFlight), config.quantum * t.weight)
  if #jobs == 0 then
    recount(t)
    return nextVisit(leaseId, l, inFlight)
  end

  l.tenant, l.jobs, l.left, l.lanes = t.name, #jobs, #jobs, math.min(lanes, #jobs)
  l.weight, l.epoch, l.claimedAt, l.refused = t.weight, clock.epoch, now, t.refused
  redis.call('RPUSH', visitKey(leaseId), packLease(l), unpack(jobs))

  addReady(t, -#jobs, -bytes)
  addFlight(t, #jobs)
  t.lanes = t.lanes + l.lanes
  t.served = t.served + #jobs
  totals.served = totals.served + #jobs
  t.headMoved = true
  fillMeter(t, spent)
  t.turn = t.turn + cost / t.weight
  place(t)
  if t.pos > 0 then requeue(t) end
  return l, jobs
end

-- 1 when no slot is free and the tenant at the head of the rotation has nothing in flight: it should not have to wait
-- for the end of somebody's visit.
local function yieldAsked()
  if config.paused or clock.servable == 0 or visitsInFlight() < config.capacity then return 0 end
  local head = redis.call('ZRANGE', key.rotation, 0, 0)[1]
  if tenant(memberName(head)).flight == 0 then return 1 end
  return 0
end
