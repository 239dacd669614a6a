-- One tenant as its readers see it, field and value in turn. Nothing here writes.
local function stated(number) return number == NONE and '' or exact(number) end

-- Of the queue as a whole, asked once for all the tenants of a reply.
local freeSlots = config and config.capacity - visitsInFlight()
local dispatcherAlive = redis.call('EXISTS', key.dispatcher)

local function viewOf(t)
  local own, span = rateOf(t, t.served)
  local ahead, others = '', clock.weights
  if t.pos > 0 then
    ahead = redis.call('ZRANK', key.rotation, member(t))
    others = others - t.weight
  end
  return {
    'tenant', t.name, 'planName', t.planName, 'plan', t.plan, 'claim', t.claim, 'oweight', stated(t.oweight), 'odepth', stated(t.odepth), 'oconc', stated(t.oconc),
    'weight', exact(t.currentWeight), 'maxDepth', exact(t.maxDepth), 'maxConcurrency', exact(t.maxConcurrency),
    'ready', t.ready, 'delayed', t.delayed, 'flight', t.flight, 'lanes', t.lanes, 'dead', t.dead, 'bytes', t.bytes,
    'obytes', stated(t.obytes), 'orate', stated(t.orate), 'oburst', stated(t.oburst), 'etag', etagOf(t),
    'maxBytes', stated(t.maxBytes), 'maxJobsPerSecond', stated(t.rate), 'burst', exact(t.burst),
    'queuePaused', config.paused and 1 or 0, 'freeSlots', freeSlots, 'dispatcher', dispatcherAlive,
    'due', t.delayed > 0 and redis.call('ZSCORE', key.due, t.name) or '', 'held', t.held, 'until', t.heldUntil, 'limitedUntil', t.rate ~= NONE and limitedUntil(t, config.quantum) or '', 'oldest', redis.call('ZSCORE', key.oldest, t.name) or '',
    'ahead', ahead, 'rate', exact(own), 'rateSpan', span, 'queueRate', exact(rateOf(totals, totals.served)),
    'weightShare', exact(t.currentWeight / (others + t.currentWeight)),
    'served', t.served, 'done', t.done, 'failed', t.failed, 'enqueued', t.enqueued,
    'p95', stated(t.p95), 'mean', stated(t.mean),
  }
end
