import { expectDocumented } from './contract.ts';

export interface Answer<Body = unknown> {
  status: number;
  headers: Headers;
  /** Parsed, where the answer says that it is JSON; else the text. */
  body: Body;
}

/**
 * One request to a running API, whose answer must be one that the contract has.
 *
 * @throws Error when it is not
 */
export async function request<Body = unknown>(
  apiUrl: string,
  path: string,
  init: RequestInit = {},
): Promise<Answer<Body>> {
  const response = await fetch(`${apiUrl}${path}`, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const answer = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  expectDocumented(init.method ?? 'GET', path, answer);
  return answer;
}
