-- The lease: first element of `visit:<lease>`, before the visit's jobs. It keeps the weight and the epoch of the charge,
-- because a refund is of what was charged, whatever the tenant's weight is by then.
local LEASE_FORMAT = '>HHHHHI6dI6Bc0Bc0Bc0Hc0'

local function packLease(l)
  return struct.pack(LEASE_FORMAT, l.visit, l.lanes, l.jobs, l.left, l.refused, l.epoch, l.weight, l.claimedAt,
    #l.token, l.token, #l.oldToken, l.oldToken, #l.nonce, l.nonce, #l.tenant, l.tenant)
end

local function unpackLease(packed)
  local l = {}
  l.visit, l.lanes, l.jobs, l.left, l.refused, l.epoch, l.weight, l.claimedAt, l.token, l.oldToken, l.nonce, l.tenant =
    struct.unpack(LEASE_FORMAT, packed)
  return l
end

-- Lease id and token number i of a call, from the caller's random seed: neither tells the other.
local function nameLease(shard, seed, i)
  local digest = redis.sha1hex(seed .. ':' .. i)
  return shard .. '-' .. string.sub(digest, 1, 16), string.sub(digest, 17)
end

-- Reads a lease; nil when there is none.
local function leaseOf(leaseId)
  local packed = redis.call('LINDEX', visitKey(leaseId), 0)
  return packed and unpackLease(packed) or nil
end

-- Reads a lease whose token must match. Returns the lease, nil if it is gone or another's.
local function findLease(leaseId, token)
  local l = leaseOf(leaseId)
  if l and l.token == token then return l end
  return nil
end

-- An open visit as its process gets it: the lease's fields, then index and record of each unsettled job.
local function openedReply(outcome, l, expiresAt, jobs)
  local reply, n = { outcome, now, expiresAt, l.token, l.visit, l.tenant, l.lanes }, 7
  for i = 1, #jobs do
    if jobs[i] ~= '' then
      reply[n + 1], reply[n + 2] = i, jobs[i]
      n = n + 2
    end
  end
  return reply
end
