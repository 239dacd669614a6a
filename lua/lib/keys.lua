-- Every key of the queue. KEYS[1] is the prefix that they share, hash tag included. Kind before tenant and tenant last,
-- so that no tenant id, whatever it holds, can make another key.
local prefix = KEYS[1]
local key = {
  config = prefix .. 'config',
  clock = prefix .. 'clock',
  totals = prefix .. 'totals',
  rotation = prefix .. 'rotation',
  due = prefix .. 'due',
  held = prefix .. 'held',
  opening = prefix .. 'opening',
  visits = prefix .. 'visits',
  depths = prefix .. 'depths',
  oldest = prefix .. 'oldest',
  idle = prefix .. 'idle',
  onces = prefix .. 'onces',
  wake = prefix .. 'wake',
  dispatcher = prefix .. 'dispatcher',
  monitor = prefix .. 'monitor',
  withdrawn = prefix .. 'withdrawn',
}
local function tenantKey(name) return prefix .. 'tenant:' .. name end
local function recordKey(name) return prefix .. 'record:' .. name end
local function readyKey(name) return prefix .. 'ready:' .. name end
local function returnedKey(name) return prefix .. 'returned:' .. name end
local function delayedKey(name) return prefix .. 'delayed:' .. name end
local function deadKey(name) return prefix .. 'dead:' .. name end
local function onceKey(name) return prefix .. 'once:' .. name end
local function visitKey(leaseId) return prefix .. 'visit:' .. leaseId end
