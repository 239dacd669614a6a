-- extend: renew an opened lease for a full lease time.
-- KEYS 1 prefix
-- ARGV 1 leaseId, 2 token
-- RETURNS extended, expiresMs, yield (1 = give back what has not started) | stale
-- DERIVES tenant, record, visit
-- INVARIANT a lease that expired and was reaped is never brought back
local leaseId, token = ARGV[1], ARGV[2]

if not config then return { 'stale' } end
local l = findLease(leaseId, token)
if not l or l.nonce == '' then return { 'stale' } end
local expiresAt = now + config.leaseMs
redis.call('ZADD', key.visits, expiresAt, leaseId)
return { 'extended', expiresAt, yieldAsked() }
