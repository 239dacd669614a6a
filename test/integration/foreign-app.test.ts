import { beforeAll, expect, test, vi } from 'vitest';
import { synthesizeGallery } from '../support/gallery.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { type Stack, startStack } from '../support/stack.ts';

let issuer: Issuer;
let images: Stack;
let mail: Stack;

beforeAll(async () => {
  issuer = await startIssuer();
  const assembly = await synthesizeGallery({ issuer: issuer.url });
  images = await startStack({}, { assembly, queue: 'images' });
  mail = await startStack({}, { assembly, queue: 'mail' });
});

const bearer = async (claims: Record<string, unknown>) => ({
  authorization: `Bearer ${await issuer.token({ audience: 'gallery', claims })}`,
});

async function enqueue(type: string, image: string) {
  const body = { jobs: [{ type, payload: { image } }] };
  return images.call('POST', '/v1/jobs', body, await bearer({ scope: 'rota/enqueue', account: 'studio-7' }));
}

/** What `process` logged of thumbnails, by key. */
const made = () =>
  images
    .logs('process')
    .filter((line) => line.includes('"message":"thumbnail"'))
    .map((line) => JSON.parse(line));

test('runs a job of the type that the app brings, in the environment that the app gives', async () => {
  expect(await enqueue('thumbnail', 'cat.png')).toMatchObject({ status: 202 });
  await vi.waitFor(() => expect(made()).toHaveLength(1), { timeout: 20_000, interval: 50 });
  expect(made()).toEqual([
    expect.objectContaining({ bucket: expect.stringContaining('Images'), key: 'studio-7/small/cat.png' }),
  ]);
});

test('makes a dead letter of a job that the app says can never be done', async () => {
  expect(await enqueue('thumbnail', 'cat.gif')).toMatchObject({ status: 202 });
  const operator = await bearer({ scope: 'rota/operate' });
  await vi.waitFor(
    async () =>
      expect(await images.call('GET', '/v1/tenants/studio-7', undefined, operator)).toMatchObject({
        body: { depth: 0, inFlight: 0, dead: 1 },
      }),
    { timeout: 20_000, interval: 50 },
  );
});

test('takes the job types of the app and no others', async () => {
  expect(await enqueue('sleep', 'cat.png')).toMatchObject({
    status: 422,
    body: { jobTypes: ['thumbnail', 'echo'] },
  });
});

test('runs the second queue of the stack beside it, by its own settings', async () => {
  expect(
    await mail.call('POST', '/v1/jobs', { tenant: 'a', jobs: [{ type: 'thumbnail', payload: {} }] }),
  ).toMatchObject({
    status: 422,
    body: { jobTypes: expect.arrayContaining(['sleep', 'webhook']) },
  });
  await mail.enqueue('studio-7', [{ type: 'echo', payload: {} }]);
  await mail.drained();
  expect(await mail.tenant('studio-7')).toMatchObject({ plan: 'free', depth: 0, dead: 0 });
  expect(mail.problems).toEqual([]);
  expect(images.problems).toEqual([]);
});
