import * as z from 'zod/mini';
import { type Example, type Response, type Route, routeKey } from '../lib/lambda/route.ts';

type Json = Record<string, unknown>;

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

/** The fields of an object schema as parameters of a place. */
function parameters(schema: z.ZodMiniType | undefined, place: 'path' | 'query' | 'header', components: Json): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = made(schema, 'input', components);
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = pointed(Object(property));
    return {
      name: place === 'header' ? capitalised(name) : name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

const examplesOf = (examples: readonly Example[], value: (example: Example) => unknown): Json =>
  Object.fromEntries(examples.map((example) => [example.name, { value: value(example) }]));

function response(
  { description, headers = {}, mediaType, schema }: Response,
  status: number,
  examples: readonly Example[],
  components: Json,
): Json {
  const shown = examples.filter((example) => example.status === status);
  const type = mediaType ?? (status < 400 ? 'application/json' : 'application/problem+json');
  return {
    description,
    ...(Object.keys(headers).length > 0 && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, sentence]) => [
          name,
          { description: sentence, schema: { type: 'integer', minimum: 1 } },
        ]),
      ),
    }),
    content: {
      [type]: {
        schema: jsonSchema(schema, 'output', components),
        ...(shown.length > 0 && { examples: examplesOf(shown, ({ answer }) => answer) }),
      },
    },
  };
}

function operation(route: Route, components: Json): Json {
  const { operationId, summary, description, params, query, headers, body, responses, examples } = route;
  const taken = [
    ...parameters(params, 'path', components),
    ...parameters(query, 'query', components),
    ...parameters(headers, 'header', components),
  ];
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [route.access],
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
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, given]) => [
        status,
        response(given, Number(status), examples, components),
      ]),
    ),
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
        'A job queue that shares its capacity fairly among tenants. Problems are RFC 9457 documents; those of the gateway itself (401, 403, 404, 413, 429, 503) are `{"message"}` and have no `Retry-After`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: [
      { name: 'enqueue', description: 'For who hands in jobs.' },
      { name: 'operate', description: 'For who looks after tenants and the queue.' },
    ],
    paths,
    components: { schemas },
  };
}
