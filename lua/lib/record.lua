-- The job record: a fixed header, then a body that nobody here looks into (layout in lua/README.md).
local ALONE, RETRY = 1, 2
local BODY_AT = 45

local record = {}

-- What a visit needs to know of a job before it takes it.
function record.route(job) return string.byte(job, 33) end
function record.cost(job) return (struct.unpack('>d', job, 34)) end
function record.alone(job) return string.byte(job, 1) % 2 == ALONE end
function record.isRetry(job) return string.byte(job, 1) >= RETRY end
function record.attempts(job) return string.byte(job, 2) end
function record.maxAttempts(job) return string.byte(job, 42) end
function record.sequence(job) return (struct.unpack('>I6', job, 3)) end
function record.readySince(job) return (struct.unpack('>I6', job, 9)) end
function record.bodyBytes(job) return #job - BODY_AT + 1 end

-- A new record: `given` holds route, cost, most attempts, timeout and body as the caller packed them.
function record.make(sequence, readySince, enqueueId, place, given)
  return struct.pack('>BBI6I6I6c10H', 0, 0, sequence, readySince, now, enqueueId, place) .. given
end

-- The same job with other attempts, flags, sequence or ready-since.
function record.change(job, flags, attempts, sequence, readySince)
  return struct.pack('>BBI6I6', flags, attempts, sequence, readySince) .. string.sub(job, 15)
end
