import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { documentUrl } from '../../functions/contract/generate.ts';

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, unknown>>; readonly headers: object }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** An answer as a client got it. */
interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it says that it is JSON. */
  readonly body: unknown;
}

// Read as it is committed: what clients have.
const document: Document = parse(readFileSync(documentUrl, 'utf8'));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, 'contract');

const compiled = new Map<string, ValidateFunction>();

const pointer = (...parts: string[]) =>
  parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

function validator(place: string): ValidateFunction {
  const known = compiled.get(place) ?? ajv.compile({ $ref: `contract#/${place}` });
  compiled.set(place, known);
  return known;
}

const patterns = Object.keys(document.paths).map((path) => ({
  path,
  // Literals before parameters, as the gateway prefers them.
  parameters: path.split('{').length,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The path of the document that a request's path is one of. */
function templateOf(path: string): string | undefined {
  const [encoded = ''] = path.split(/[?#]/);
  let decoded: string;
  try {
    [decoded = ''] = decodeURIComponent(encoded).split('?');
  } catch {
    return undefined;
  }
  return patterns.filter(({ pattern }) => pattern.test(decoded)).toSorted((a, b) => a.parameters - b.parameters)[0]
    ?.path;
}

const baseType = (type: string) => type.split(';')[0]?.trim().toLowerCase();

/**
 * Fails unless the contract has the answer: its status, its media type, its body to the last field, and its headers.
 *
 * @throws Error saying what the contract does not have
 */
export function expectDocumented(method: string, path: string, { status, headers, body }: Answered): void {
  const given = `${method} ${path} answered ${status}`;
  const template = templateOf(path);
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  const type = headers.get('content-type') ?? '';
  let place = 'components/schemas/GatewayMessage';
  if (template !== undefined && operation !== undefined) {
    const response = operation.responses[status];
    if (response === undefined)
      throw new Error(`${given}: the contract knows ${Object.keys(operation.responses).join()} only`);
    const media = Object.keys(response.content).find((known) => baseType(known) === baseType(type));
    if (media === undefined)
      throw new Error(`${given} as ${type}: the contract knows ${Object.keys(response.content).join()}`);
    const base = ['paths', template, method.toLowerCase(), 'responses', String(status), 'content', media, 'schema'];
    place = pointer(...base);
    expectHeaders(given, response.headers, headers, type);
  } else if (![400, 404].includes(status)) {
    throw new Error(`${given}: the contract has no such route`);
  }
  const validate = validator(place);
  if (!validate(body))
    throw new Error(`${given} with what the contract does not have: ${ajv.errorsText(validate.errors)}`);
}

/** A gateway's own answer has the id of the request, and nothing else. */
function expectHeaders(given: string, documented: object, headers: Headers, type: string): void {
  const own = type.startsWith('application/problem+json');
  for (const name of Object.keys(documented)) {
    if ((own || name !== 'Retry-After') && !headers.has(name)) throw new Error(`${given} without the header ${name}`);
  }
  if (headers.has('retry-after') && !('Retry-After' in documented)) {
    throw new Error(`${given} with a Retry-After that the contract does not have`);
  }
}
