-- The lease: first element of `visit:<lease>`, before the visit's jobs. It keeps the weight and the epoch of the charge,
-- because a refund is of what was charged, whatever the tenant's weight is by then.
local lease = {}

function lease.pack(l)
  return struct.pack('>HHHHI6dI6Bc0Bc0Bc0Hc0', l.visit, l.lanes, l.jobs, l.left, l.epoch, l.weight, l.claimedAt,
    #l.token, l.token, #l.oldToken, l.oldToken, #l.nonce, l.nonce, #l.tenant, l.tenant)
end

function lease.unpack(packed)
  local l = {}
  l.visit, l.lanes, l.jobs, l.left, l.epoch, l.weight, l.claimedAt, l.token, l.oldToken, l.nonce, l.tenant =
    struct.unpack('>HHHHI6dI6Bc0Bc0Bc0Hc0', packed)
  return l
end

-- Lease id and token number i of a call, from the caller's random seed: neither tells the other.
function lease.name(shard, seed, i)
  local digest = redis.sha1hex(seed .. ':' .. i)
  return shard .. '-' .. string.sub(digest, 1, 16), string.sub(digest, 17)
end

-- Reads a lease whose token must match. Returns the lease, nil if it is gone or another's.
function lease.find(leaseId, token)
  local packed = redis.call('LINDEX', visitKey(leaseId), 0)
  if not packed then return nil end
  local l = lease.unpack(packed)
  if l.token ~= token then return nil end
  return l
end

-- An open visit as its process gets it: the lease's fields, then index and record of each unsettled job.
local function openedReply(outcome, leaseId, l, expiresAt)
  local jobs = redis.call('LRANGE', visitKey(leaseId), 1, -1)
  local reply = { outcome, now, expiresAt, l.token, l.visit, l.tenant, l.lanes }
  for i = 1, #jobs do
    if jobs[i] ~= '' then
      reply[#reply + 1] = i
      reply[#reply + 1] = jobs[i]
    end
  end
  return reply
end
