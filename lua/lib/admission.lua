-- Whether more jobs may wait. `sizes` are the bytes of their payloads, in the order in which they would be pushed.

-- The first cap that they would pass together, nil when there is none: its name, what counts against it now, the cap, what
-- the jobs would add, and how many jobs count against it now.
local function capPassed(t, sizes)
  local bytes = 0
  for i = 1, #sizes do bytes = bytes + sizes[i] end
  local depth, queueDepth = t.ready + t.delayed, totals.ready + totals.delayed
  local caps = {
    { 'maxDepth', depth, t.maxDepth, #sizes, depth },
    { 'maxBytes', t.bytes, t.maxBytes, bytes, depth },
    { 'maxQueueDepth', queueDepth, config.maxQueueDepth, #sizes, queueDepth },
    { 'maxQueueBytes', totals.bytes, config.maxQueueBytes, bytes, queueDepth },
  }
  for i = 1, #caps do
    local cap = caps[i]
    if cap[3] ~= NONE and cap[2] + cap[4] > cap[3] then return unpack(cap) end
  end
  return nil
end

-- How many of the jobs, from the first on, fit under every cap.
local function roomFor(t, sizes)
  local depth, queueDepth = t.ready + t.delayed, totals.ready + totals.delayed
  local bytes, room = 0, 0
  for i = 1, #sizes do
    bytes = bytes + sizes[i]
    local fits = depth + i <= t.maxDepth
      and (t.maxBytes == NONE or t.bytes + bytes <= t.maxBytes)
      and (config.maxQueueDepth == NONE or queueDepth + i <= config.maxQueueDepth)
      and (config.maxQueueBytes == NONE or totals.bytes + bytes <= config.maxQueueBytes)
    if not fits then return room end
    room = i
  end
  return room
end
