import { defineJob, PermanentFailure } from 'rota/jobs';
import * as z from 'zod/mini';

const { BUCKET: bucket } = process.env;

/** Stands for the making of a thumbnail: says what it would put where. */
export default defineJob(z.strictObject({ image: z.string() }), async ({ payload: { image }, tenant }, { logger }) => {
  if (!image.endsWith('.png')) throw new PermanentFailure('The image is no PNG.');
  logger.info('thumbnail', { bucket, key: `${tenant}/small/${image}` });
});
