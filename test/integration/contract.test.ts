import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../functions/contract/routes.ts';
import type { Example, Route } from '../../functions/lib/lambda/route.ts';
import { ONE } from '../../functions/contract/job-examples.ts';
import { buryAs } from '../support/dead.ts';
import { jobsOf, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

/** Leaves nothing of the examples' tenant but that it is paused, so that its jobs wait. */
async function afresh(): Promise<void> {
  await stack.call('PUT', '/v1/queue', { paused: false, capacity: null });
  await stack.call('DELETE', '/v1/tenants/acme');
  await stack.call('POST', '/v1/tenants/acme/pause');
}

const keyed = { 'idempotency-key': 'import-2026-11-30' };
const enqueueFirst = async () => {
  const { body } = enqueueExample('repeated');
  expect((await stack.call('POST', '/v1/jobs', body, keyed)).status).toBe(202);
};

function enqueueExample(name: string): Example {
  const example = routes
    .find(({ operationId }) => operationId === 'enqueueJobs')
    ?.examples.find((one) => one.name === name);
  if (example === undefined) throw new Error(`enqueueJobs has no example ${name}`);
  return example;
}

async function oneDead(): Promise<void> {
  await stack.call('POST', '/v1/tenants/acme/resume');
  await buryAs(stack, 'acme', ONE);
  await stack.call('POST', '/v1/tenants/acme/pause');
}

/** What must have happened before, for the examples that say so by their answer. */
const before: Readonly<Record<string, () => Promise<void>>> = {
  'enqueueJobs repeated': enqueueFirst,
  'enqueueJobs key of other jobs': enqueueFirst,
  'enqueueJobs full': async () => {
    await stack.subscribe('acme', { maxDepth: 2 });
    await stack.enqueue('acme', jobsOf(1, 'echo'));
  },
  'enqueueJobs never fits': () => stack.subscribe('acme', { maxDepth: 1 }),
  'listTenants longest waiting': async () => {
    await stack.subscribe('acme', { plan: 'growth', maxDepth: 500_000 });
    await stack.enqueue('acme', jobsOf(2, 'echo'));
    await stack.enqueue(
      'globex',
      jobsOf(1, 'echo', {}).map((job) => ({ ...job, delaySeconds: 60 })),
    );
  },
  'getTenant waiting': async () => {
    await stack.subscribe('acme', { plan: 'growth', maxDepth: 500_000 });
    await stack.enqueue('acme', jobsOf(2, 'echo'));
  },
  'putTenant what it would do': async () => {
    await stack.call('POST', '/v1/tenants/acme/resume');
    await stack.call('PUT', '/v1/queue', { paused: true });
    await stack.call('DELETE', '/v1/tenants/globex');
    for (const tenant of ['acme', 'globex']) await stack.enqueue(tenant, jobsOf(1, 'echo'));
  },
  'listTenantJobs next to be served': async () => {
    await stack.enqueue('acme', jobsOf(2, 'fail', { times: 1 }));
  },
  'listDead newest': async () => {
    await oneDead();
    await oneDead();
  },
  'dropDead dropped': oneDead,
  'redriveDead redriven': oneDead,
  'pauseTenant paused': async () => {
    await stack.subscribe('acme', { plan: 'growth', maxDepth: 500_000 });
    await stack.enqueue('acme', jobsOf(2, 'echo'));
  },
  'resumeTenant waiting': async () => {
    await stack.subscribe('acme', { plan: 'growth', maxDepth: 500_000 });
    // Delayed, so that it still waits when it is shown.
    await stack.enqueue(
      'acme',
      jobsOf(1, 'echo').map((job) => ({ ...job, delaySeconds: 60 })),
    );
  },
  'putTenant plan with an override': async () => {
    await stack.enqueue('acme', jobsOf(1, 'echo'));
  },
};

/**
 * The form of a value: names and nesting without the values. Whether a number, text or null may stand somewhere is the schema's
 * affair, and every answer here is held against it.
 */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? 'boolean' : 'value';
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, formOf(inner)]));
}

/** What does not depend on the moment of a problem document; nothing of any other body. */
const problemOf = (body: unknown) => ({
  type: Reflect.get(Object(body), 'type'),
  title: Reflect.get(Object(body), 'title'),
});

const samples = routes.flatMap((route: Route) =>
  route.examples.map((example): [string, Route, Example] => [`${route.operationId} ${example.name}`, route, example]),
);

function pathOf(route: Route, { params = {}, query }: Example): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
  return query === undefined ? path : `${path}?${new URLSearchParams(query).toString()}`;
}

describe('the examples of the contract', () => {
  it.each(samples)('are answered as they say: %s', async (name, route, example) => {
    await afresh();
    await before[name]?.();
    const answer = await stack.call(route.method, pathOf(route, example), example.body, example.headers);
    expect({ status: answer.status, form: formOf(answer.body) }).toEqual({
      status: example.status,
      form: formOf(example.answer),
    });
    expect(problemOf(answer.body)).toEqual(problemOf(example.answer));
  });

  it('need what is prepared for them', () => {
    const names = samples.map(([name]) => name);
    expect(Object.keys(before).filter((name) => !names.includes(name))).toEqual([]);
  });
});
