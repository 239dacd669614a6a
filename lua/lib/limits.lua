-- What a tenant is allowed: the limits in force, and the meter of its rate.
local NONE = -1
local PAUSED, AT_CONCURRENCY, RATE, BACKING_OFF = 1, 2, 4, 8

-- Limits by precedence: the record's overrides, its plan, the claim's plan, the default plan.
local function resolveLimits(t)
  local name, plan = t.plan, t.plan ~= '' and planOf(t.plan)
  if not plan then
    name, plan = t.claim, t.claim ~= '' and planOf(t.claim)
  end
  if not plan then
    name, plan = config.defaultPlan, planOf(config.defaultPlan)
  end
  t.planName = name
  t.currentWeight = t.oweight ~= NONE and t.oweight or plan.weight
  t.maxDepth = t.odepth ~= NONE and t.odepth or plan.maxDepth
  t.maxConcurrency = t.oconc ~= NONE and t.oconc or plan.maxConcurrency
  t.maxBytes = t.obytes ~= NONE and t.obytes or plan.maxBytes
  t.rate = t.orate ~= NONE and t.orate or plan.rate
  t.burst = t.oburst ~= NONE and t.oburst or plan.burst
  -- Not stated: what a second brings.
  if t.burst == NONE then t.burst = math.max(1, math.ceil(t.rate)) end
end

local function holdBit(t, bit, on)
  local has = math.floor(t.held / bit) % 2 == 1
  if on and not has then t.held = t.held + bit end
  if has and not on then t.held = t.held - bit end
end

-- The meter: each job served for the first time fills it by one, and it drains by `rate` a second. That is the generic
-- cell rate algorithm as a leaky bucket (ITU-T I.371, annex A), whose level a changed rate or burst leaves as it is.
local function levelOf(t)
  if t.rate == NONE then return 0 end
  return math.max(0, t.level - (now - t.levelAt) * t.rate / 1000)
end

-- How many jobs may be served for the first time now.
local function tokensOf(t)
  if t.rate == NONE then return math.huge end
  return math.floor(t.burst - levelOf(t))
end

-- A job spends a token once, however often it runs: not as a retry, and not after the worker that had it was lost.
local function spendsToken(job) return string.byte(job, 2) == 0 and string.byte(job, 1) % 2 ~= 1 end

local function fillMeter(t, jobs)
  if t.rate == NONE then return end
  t.level, t.levelAt = math.max(0, levelOf(t) + jobs), now
end

-- How many tokens a limited tenant waits for: those of a visit, or of a second if these are fewer. One by one, it would
-- have a visit for each job.
local function tokensAwaited(t, quantum)
  return math.max(1, math.min(t.burst, math.floor(quantum * t.currentWeight), math.floor(t.rate)))
end

-- When the meter lets a limited tenant in again, in ms.
local function limitedUntil(t, quantum)
  return now + math.ceil(math.max(0, levelOf(t) - (t.burst - tokensAwaited(t, quantum))) * 1000 / t.rate)
end

-- Whether the meter holds the tenant back: without a token, and once it is held until all that it waits for are there.
local function meterHolds(t, quantum)
  if t.rate == NONE or t.ready == 0 then return false end
  local held = math.floor(t.held / RATE) % 2 == 1
  return levelOf(t) > t.burst - (held and tokensAwaited(t, quantum) or 1)
end
