import * as z from 'zod/mini';
import { gatewayAnswersTo, gatewayMessage } from './gateway.ts';
import { securityOf, securitySchemes } from './security.ts';
import { type Example, type Response, type Route, routeKey } from '../lib/lambda/route.ts';

type Json = Record<string, unknown>;
type GatewayAnswer = ReturnType<typeof gatewayAnswersTo>[number][1];

/** Where the document keeps the schemas that have a name. */
const SCHEMAS = '#/components/schemas/';

/** Points references at where the document keeps the named schemas. */
const pointed = (node: object): Json =>
  Object.fromEntries(
    Object.entries(node).flatMap(([key, value]): [string, unknown][] => {
      if (key === 'id' && typeof value === 'string') return [];
      if (key === '$ref' && typeof value === 'string') return [[key, value.replace('#/$defs/', SCHEMAS)]];
      return [[key, pointedValue(value)]];
    }),
  );

const pointedValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(pointedValue);
  return typeof value === 'object' && value !== null ? pointed(value) : value;
};

/** A schema as JSON Schema. Its named parts are taken out into `components`. */
function made(schema: z.ZodMiniType, io: 'input' | 'output', components: Json) {
  const {
    $schema: _dialect,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      // The pattern of the digits that a query string has in place of a number.
      if (jsonSchema.type === 'integer') delete jsonSchema.pattern;
    },
  });
  for (const [name, part] of Object.entries($defs)) components[name] = pointed(part);
  return rest;
}

const jsonSchema = (schema: z.ZodMiniType, io: 'input' | 'output', components: Json): Json =>
  pointed(made(schema, io, components));

/** As headers are written. */
const capitalised = (name: string) => name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** Where an example states what a call has in a place. */
const statedIn = { path: 'params', query: 'query', header: 'headers' } as const;

/** The fields of an object schema as parameters of a place. */
function parameters(
  schema: z.ZodMiniType | undefined,
  place: keyof typeof statedIn,
  examples: readonly Example[],
  components: Json,
): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = made(schema, 'input', components);
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = pointed(Object(property));
    const shown = examples.filter((example) => example[statedIn[place]]?.[name] !== undefined);
    return {
      name: place === 'header' ? capitalised(name) : name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
      ...(shown.length > 0 && {
        // A number stands as digits in a URL, and as a number in the document.
        examples: examplesOf(shown, (example) => {
          const text = example[statedIn[place]]?.[name];
          return rest.type === 'integer' ? Number(text) : text;
        }),
      }),
    };
  });
}

const examplesOf = (examples: readonly Example[], value: (example: Example) => unknown): Json =>
  Object.fromEntries(examples.map((example) => [example.name, { value: value(example) }]));

const shownHeaders = (headers: Readonly<Record<string, string>>): Json => ({
  ...Object.fromEntries(
    Object.entries(headers).map(([name, sentence]) => [
      name,
      { description: sentence, schema: { type: 'integer', minimum: 1 } },
    ]),
  ),
  'Apigw-Requestid': { $ref: '#/components/headers/RequestId' },
});

/** What a status says: the answers of the function, those of the gateway, or either. */
function response(
  given: Response | undefined,
  gateway: GatewayAnswer | undefined,
  status: number,
  examples: readonly Example[],
  components: Json,
): Json {
  const shown = examples.filter((example) => example.status === status);
  const ownType = given?.mediaType ?? (status < 400 ? 'application/json' : 'application/problem+json');
  return {
    description: [given?.description, gateway && `The gateway answers when ${gateway.when}.`]
      .filter((sentence) => sentence !== undefined)
      .join(' '),
    headers: shownHeaders(given?.headers ?? {}),
    content: {
      ...(given && {
        [ownType]: {
          schema: jsonSchema(given.schema, 'output', components),
          ...(shown.length > 0 && { examples: examplesOf(shown, ({ answer }) => answer) }),
        },
      }),
      ...(gateway && {
        'application/json': {
          schema: jsonSchema(gatewayMessage, 'output', components),
          example: { message: gateway.message },
        },
      }),
    },
  };
}

function responses(route: Route, components: Json): Json {
  const gateway = new Map(gatewayAnswersTo(route));
  const statuses = new Set([...Object.keys(route.responses).map(Number), ...gateway.keys()]);
  return Object.fromEntries(
    [...statuses]
      .toSorted((a, b) => a - b)
      .map((status) => [
        String(status),
        response(route.responses[status], gateway.get(status), status, route.examples, components),
      ]),
  );
}

function operation(route: Route, components: Json): Json {
  const { operationId, summary, description, params, query, headers, body, examples } = route;
  const taken = [
    ...parameters(params, 'path', examples, components),
    ...parameters(query, 'query', examples, components),
    ...parameters(headers, 'header', examples, components),
  ];
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [route.access],
    security: securityOf(route.access),
    ...(taken.length > 0 && { parameters: taken }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: jsonSchema(body, 'input', components),
            examples: examplesOf(examples, (example) => example.body),
          },
        },
      },
    }),
    responses: responses(route, components),
  };
}

/**
 * The OpenAPI 3.1 document of a table of routes.
 *
 * @throws Error when two routes have the same method and path, or operation id
 */
export function openApi(routes: readonly Route[], version: string): Json {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  for (const key of [routeKey, ({ operationId }: Route) => operationId]) {
    const keys = routes.map(key);
    const twice = keys.find((name, index) => keys.indexOf(name) !== index);
    if (twice !== undefined) throw new Error(`two routes are called ${twice}`);
  }
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rota',
      version,
      description:
        'A job queue that shares its capacity fairly among tenants. Problems are RFC 9457 documents. The gateway makes some answers itself: they are `{"message"}` and have no `Retry-After`; a path that cannot be decoded gets such a 400, and one of no route such a 404. Either kind is found in the logs by the request id.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: 'https://{api}.execute-api.{region}.amazonaws.com',
        description: 'As deployed.',
        variables: {
          api: { default: 'api', description: 'Id of the API; the whole address is an output of the stack.' },
          region: { default: 'us-east-1' },
        },
      },
      { url: 'http://127.0.0.1:3000', description: 'On this machine.' },
    ],
    tags: [
      { name: 'enqueue', description: 'For who hands in jobs.' },
      { name: 'operate', description: 'For who looks after tenants and the queue.' },
    ],
    paths,
    components: {
      schemas,
      headers: {
        RequestId: {
          description: 'Names the request in the logs; a problem document has it as `requestId`.',
          schema: { type: 'string' },
        },
      },
      securitySchemes,
    },
  };
}
