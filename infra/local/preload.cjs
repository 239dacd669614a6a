/**
 * Loaded before AWS's runtime client in each local environment. The client talks to the Runtime API through a native
 * module that takes minutes to compile; this answers the client's request for it with the same four calls over
 * node:http. Everything else of the runtime client is AWS's own.
 */
const http = require('node:http');
const { registerHooks } = require('node:module');
const { pathToFileURL } = require('node:url');

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

// `done` and `error` return nothing to wait for, so `next` waits for the post that is under way.
let lastPost = Promise.resolve();

const nativeClient = {
  initializeClient() {},
  async next() {
    await lastPost;
    const { headers, body } = await call('GET', '/2018-06-01/runtime/invocation/next');
    return { bodyJson: body, headers };
  },
  done(id, body) {
    post(`/2018-06-01/runtime/invocation/${id}/response`, body, {});
  },
  error(id, body, xray) {
    post(`/2018-06-01/runtime/invocation/${id}/error`, body, {
      'Lambda-Runtime-Function-Error-Type': errorTypeOf(body),
      'Lambda-Runtime-Function-XRay-Error-Cause': Buffer.byteLength(xray) < 64_000 ? xray : '',
    });
  },
};

function post(path, body, headers) {
  const xraySafe = Object.entries(headers).map(([name, value]) => [name, value.replaceAll(/[^\x20-\x7e]/g, '?')]);
  lastPost = call('POST', path, body, Object.fromEntries(xraySafe));
}

function errorTypeOf(body) {
  const { errorType } = JSON.parse(body);
  return typeof errorType === 'string' ? errorType : 'Error';
}

function call(method, path, body, headers) {
  return new Promise((resolve) => {
    const request = http.request({ hostname, port, path, method, agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', end);
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks).toString('utf8') }));
    });
    request.on('error', end);
    request.end(body);
  });
}

// The runner is gone: an environment has nobody left to work for.
function end() {
  process.exit(0);
}

module.exports = nativeClient;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== './rapid-client.node') return next(specifier, context);
    return { url: pathToFileURL(__filename).href, format: 'commonjs', shortCircuit: true };
  },
});
