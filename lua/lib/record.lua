-- The job record: a fixed header, then a body that nobody here looks into (layout in lua/README.md).
local ALONE, RETRY = 1, 2
local HEADER_BYTES = 44

local function costOf(job) return (struct.unpack('>d', job, 34)) end
local function readySinceOf(job) return (struct.unpack('>I6', job, 9)) end
local function bodyBytes(job) return #job - HEADER_BYTES end

-- A new record: `given` holds route, cost, most attempts, timeout and body as the caller packed them.
local function newRecord(sequence, readySince, enqueueId, place, given)
  return struct.pack('>BBI6I6I6c10H', 0, 0, sequence, readySince, now, enqueueId, place) .. given
end

-- The same job with other flags and attempts, and, where given, another sequence and ready-since.
local function changed(job, flags, attempts, sequence, readySince)
  if not sequence then return string.char(flags, attempts) .. string.sub(job, 3) end
  return struct.pack('>BBI6I6', flags, attempts, sequence, readySince) .. string.sub(job, 15)
end
