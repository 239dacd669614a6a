import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** What an account answers to an action: a value for its result, or a refusal. */
type AwsAnswer = { result: string } | { json: unknown } | { status: number; code: string; message: string };

/** Answers by action, or by action and name of a stack (`DescribeStacks CDKToolkit`); an action that is not listed is refused as one that the credentials may not do. */
export type AwsAccount = Readonly<Record<string, AwsAnswer>>;

const ACTIONS_BY_PATH: readonly [RegExp, string][] = [
  [/^\/2016-08-19\/account-settings/, 'GetAccountSettings'],
  [/^\/2019-09-30\/functions\/[^/]+\/concurrency$/, 'GetFunctionConcurrency'],
];

function actionOf(request: IncomingMessage, body: string): string {
  const { pathname } = new URL(request.url ?? '/', 'http://aws');
  return ACTIONS_BY_PATH.find(([path]) => path.test(pathname))?.[1] ?? new URLSearchParams(body).get('Action') ?? '';
}

function answerTo(account: AwsAccount, action: string, body: string): AwsAnswer {
  const name = new URLSearchParams(body).get('StackName');
  const refused = { status: 403, code: 'AccessDenied', message: `not authorized to perform ${action}` };
  return account[`${action} ${name}`] ?? account[action] ?? refused;
}

async function respond(account: AwsAccount, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const action = actionOf(request, body);
  const answer = answerTo(account, action, body);
  const xml = (status: number, document: string) =>
    response.writeHead(status, { 'content-type': 'text/xml' }).end(document);
  if ('json' in answer) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.json));
  } else if ('result' in answer) {
    xml(200, `<${action}Response><${action}Result>${answer.result}</${action}Result></${action}Response>`);
  } else if (body === '') {
    response.writeHead(answer.status, { 'x-amzn-errortype': answer.code }).end(JSON.stringify(answer));
  } else {
    const { status, code, message } = answer;
    xml(status, `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`);
  }
}

/**
 * AWS on this machine, for `AWS_ENDPOINT_URL`: speaks the query protocol (STS, CloudFormation, ElastiCache) and REST with JSON
 * (Lambda) as the services do, to any caller.
 */
export async function serveAccount(account: AwsAccount): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    void respond(account, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
