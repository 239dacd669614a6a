/**
 * The credentials that Lambda gives a function. Bundled in place of the SDK's own provider, whose files, single sign-on and
 * metadata services no function has: they are 115 KB, a sixth of a bundle.
 */
export const defaultProvider = () => async () => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = process.env;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error('AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: missing, expected what Lambda sets for a function');
  }
  return { accessKeyId, secretAccessKey, ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }) };
};
