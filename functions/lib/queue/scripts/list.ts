import verb from '../../../../lua/list.lua';
import type { TenantView } from '../../domain/outcomes.ts';
import { forViews } from '../parts.ts';
import { afterOutcome, defineScript, number } from '../script.ts';
import { decodeView } from './inspect.ts';

export const list = defineScript({
  name: 'list',
  parts: [...forViews, verb],
  allowOom: true,
  fields: ['sort', 'offset', 'limit'],
  decode: (reply): TenantView[] => {
    const [now, ...views] = afterOutcome('list', 'tenants', reply);
    return views.map((view) => {
      if (typeof view === 'number' || Buffer.isBuffer(view))
        throw new TypeError('list: expected a view of each tenant');
      return decodeView(number(now), view);
    });
  },
});
