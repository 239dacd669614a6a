import * as z from 'zod/mini';
import type { Route } from '../lib/lambda/route.ts';
import { documented } from './schemas.ts';

/** The body of every answer that the gateway makes itself. Such an answer never has a `Retry-After`. */
export const gatewayMessage = documented(z.strictObject({ message: z.string() }), {
  id: 'GatewayMessage',
  description: 'Made by the gateway itself, before or after the function: no problem document, and no `Retry-After`.',
});

/** When the gateway answers in place of the function, by status. */
const answers: Readonly<Record<number, { readonly when: string; readonly message: string }>> = {
  401: { when: 'no token came, or one that is no good', message: 'Unauthorized' },
  403: { when: 'the caller has no permission, or its token none of the scopes', message: 'Forbidden' },
  404: { when: 'the path, once decoded, is that of no route', message: 'Not Found' },
  413: { when: 'the request is larger than 10 MB', message: 'Request Entity Too Large' },
  429: { when: 'all callers together were too fast; try again with a growing pause', message: 'Too Many Requests' },
  500: { when: 'the function could not be asked, or broke off', message: 'Internal Server Error' },
  503: { when: 'the function took too long, or was throttled', message: 'Service Unavailable' },
};

/** The statuses, ascending, with which the gateway may answer a call of the route, and when it does. */
export const gatewayAnswersTo = ({ body }: Pick<Route, 'body'>): [status: number, answer: (typeof answers)[number]][] =>
  Object.entries(answers)
    .map(([status, answer]): [number, (typeof answers)[number]] => [Number(status), answer])
    .filter(([status]) => status !== 413 || body !== undefined);
