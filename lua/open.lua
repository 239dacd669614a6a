-- open: hand a lease's jobs to the invocation that came for them; once, but again to the same invocation.
-- KEYS 1 prefix
-- ARGV 1 leaseId, 2 token, 3 nonce (of the invocation)
-- RETURNS opened, nowMs, expiresMs, token, visit, tenant, lanes, then per job: index, record | already_open | gone
-- DERIVES tenant, record, visit
-- INVARIANT a lease is in exactly one of opening and visits
local leaseId, token, nonce = ARGV[1], ARGV[2], ARGV[3]

if not config then return { 'gone' } end
local l = findLease(leaseId, token)
if not l then return { 'gone' } end
if l.nonce ~= '' and l.nonce ~= nonce then return { 'already_open' } end

if l.nonce == '' then
  l.nonce = nonce
  redis.call('LSET', visitKey(leaseId), 0, packLease(l))
  redis.call('ZREM', key.opening, leaseId)
  if l.refused > 0 then
    tenant(l.tenant).refused = 0
    commit()
  end
end
local expiresAt = now + config.leaseMs
redis.call('ZADD', key.visits, expiresAt, leaseId)
return openedReply('opened', l, expiresAt, redis.call('LRANGE', visitKey(leaseId), 1, -1))
