-- mark: take, keep or leave the mark of life, which says that a dispatcher is at work, and which one.
-- KEYS 1 prefix
-- ARGV 1 owner, 2 wish (take = whoever had it, keep = unless another has it, leave = unless another has it)
-- RETURNS marked | other (another dispatcher has it) | left
-- DERIVES nothing
-- INVARIANT the dispatcher that began last has the mark: one that ends never takes away the mark of one that goes on
local owner, wish = ARGV[1], ARGV[2]
local LIFE_MS, CALLED = 3000, 'called'

local holder = redis.call('GET', key.dispatcher)
local others = holder and holder ~= owner and holder ~= CALLED
if wish == 'leave' then
  if not others then redis.call('DEL', key.dispatcher) end
  return { 'left' }
end
if wish == 'keep' and others then return { 'other' } end
redis.call('SET', key.dispatcher, owner, 'PX', LIFE_MS)
return { 'marked' }
