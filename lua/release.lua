-- release: give a whole visit back, because its invocation was refused: no attempt used, the charge refunded.
-- KEYS 1 prefix
-- ARGV 1 leaseId, 2 token
-- RETURNS released, refusals (in a row) | stale
-- DERIVES tenant, record, ready, returned, visit
-- INVARIANT the tenant is as it was before the claim, but for its refusals
local leaseId, token = ARGV[1], ARGV[2]
local REFUSALS_BORNE, MOST_BACKOFF_MS = 3, 60000

if not config then return { 'stale' } end
local l = findLease(leaseId, token)
if not l or l.nonce ~= '' then return { 'stale' } end

local t = tenant(l.tenant)
local jobs = redis.call('LRANGE', visitKey(leaseId), 1, -1)
endVisit(t, leaseId, l)
refund(t, l, jobs)
t.refused = t.refused + 1
if t.refused >= REFUSALS_BORNE then
  local backoff = 1000
  for _ = REFUSALS_BORNE + 1, math.min(t.refused, REFUSALS_BORNE + 6) do backoff = backoff * 2 end
  t.heldUntil = now + math.min(MOST_BACKOFF_MS, backoff)
  holdBit(t, BACKING_OFF, true)
  comesDue(key.held, t, t.heldUntil)
end
place(t)
commit()
wake()
return { 'released', t.refused }
