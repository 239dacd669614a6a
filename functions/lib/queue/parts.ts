import admission from '../../../lua/lib/admission.lua';
import dead from '../../../lua/lib/dead.lua';
import jobs from '../../../lua/lib/jobs.lua';
import keys from '../../../lua/lib/keys.lua';
import lease from '../../../lua/lib/lease.lua';
import limits from '../../../lua/lib/limits.lua';
import record from '../../../lua/lib/record.lua';
import state from '../../../lua/lib/state.lua';
import tenant from '../../../lua/lib/tenant.lua';
import view from '../../../lua/lib/view.lua';
import visit from '../../../lua/lib/visit.lua';

/** The shared parts of the scripts; each group is in the order in which its parts build on one another. */
export const forTenants = [keys, state, record, limits, tenant] as const;
export const forDead = [...forTenants, dead] as const;
const forJobs = [...forDead, jobs] as const;
export const forAdmission = [...forJobs, admission] as const;
export const forLeases = [...forJobs, lease] as const;
export const forVisits = [...forLeases, visit] as const;
export const forViews = [...forTenants, view] as const;
export const forQueue = [keys, state] as const;
