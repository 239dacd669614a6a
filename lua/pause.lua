-- pause: stop or resume serving a tenant; the operator's word, which no subscription record undoes.
-- KEYS 1 prefix
-- ARGV 1 tenant, 2 paused (1 or 0)
-- RETURNS paused | resumed, dispatch
-- DERIVES tenant, record
-- INVARIANT visits in flight go on; waiting jobs keep their order
local name, paused = ARGV[1], ARGV[2] == '1'

if not config then return redis.error_reply(UNCONFIGURED) end
local t = tenant(name)
holdBit(t, PAUSED, paused)
place(t)
commit()
if paused then return { 'paused' } end
wake()
return { 'resumed', dispatcherNeeded() }
