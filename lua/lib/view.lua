-- One tenant as its readers see it, field and value in turn. Nothing here writes.
local function viewOf(t)
  local own, span = rateOf(t, t.served)
  local ahead, others = '', clock.weights
  if t.pos > 0 then
    ahead = redis.call('ZRANK', key.rotation, member(t))
    others = others - t.weight
  end
  return {
    'tenant', t.name, 'planName', t.planName, 'plan', t.plan or '', 'oweight', t.oweight and exact(t.oweight) or '',
    'odepth', t.odepth and exact(t.odepth) or '', 'oconc', t.oconc and exact(t.oconc) or '',
    'weight', exact(t.shareWeight), 'maxDepth', exact(t.maxDepth), 'maxConcurrency', exact(t.maxConcurrency),
    'ready', t.ready, 'delayed', t.delayed, 'flight', t.flight, 'lanes', t.lanes, 'dead', t.dead, 'bytes', t.bytes,
    'held', t.held, 'until', t['until'], 'oldest', redis.call('ZSCORE', key.oldest, t.name) or '',
    'ahead', ahead, 'rate', exact(own), 'rateSpan', span, 'queueRate', exact(rateOf(totals, totals.served)),
    'weightShare', exact(t.shareWeight / (others + t.shareWeight)),
    'served', t.served, 'done', t.done, 'failed', t.failed, 'enqueued', t.enqueued,
    'p95', t.p95 and exact(t.p95) or '', 'mean', t.mean and exact(t.mean) or '',
  }
end
