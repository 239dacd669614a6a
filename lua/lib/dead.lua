-- Dead letters: `dead:<t>`, newest first, each the ms of its death, its error, and its record.

local function recordOf(dead)
  local _, length = struct.unpack('>I6H', dead)
  return string.sub(dead, 9 + length)
end

-- The one of that id among `count` of them from `from` on; nil when it is not one of these.
local function findDead(t, id, from, count)
  for _, dead in ipairs(redis.call('LRANGE', deadKey(t.name), from, from + count - 1)) do
    if string.sub(recordOf(dead), 21, 32) == id then return dead end
  end
  return nil
end

local function addDead(t, count)
  t.dead = t.dead + count
  totals.dead = totals.dead + count
end
