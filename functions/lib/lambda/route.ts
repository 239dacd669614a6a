import type * as z from 'zod/mini';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What a caller must be allowed to do: hand in jobs, or look after tenants and the queue. */
export type Access = 'enqueue' | 'operate';

/** The permissions of which a caller must hold one. Who looks after the queue may also hand in jobs. */
export const permissionsFor: Readonly<Record<Access, readonly Access[]>> = {
  enqueue: ['enqueue', 'operate'],
  operate: ['operate'],
};

/** One answer of a route. `headers` names those that come with it, with a sentence each. */
export interface Response {
  readonly description: string;
  readonly schema: z.ZodMiniType;
  /** JSON, or a problem document from 400 on, if not given. */
  readonly mediaType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request and what it is answered with. Checked against the route's schemas by a test. */
export interface Example {
  readonly name: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer: unknown;
}

/** A call of the HTTP contract. Schemas check the request; absent means that there is nothing of the kind. */
export interface Route<
  Params extends z.ZodMiniType = z.ZodMiniType,
  Query extends z.ZodMiniType = z.ZodMiniType,
  Headers extends z.ZodMiniType = z.ZodMiniType,
  Body extends z.ZodMiniType = z.ZodMiniType,
> {
  readonly operationId: string;
  readonly method: Method;
  /** With `{name}` for parameters, as API Gateway writes it. */
  readonly path: string;
  readonly function: 'enqueue' | 'tenants';
  readonly access: Access;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly body?: Body;
  /** By status. */
  readonly responses: Readonly<Record<number, Response>>;
  readonly examples: readonly Example[];
}

/** States a route, so that handlers know the types of what its schemas let through. */
export const route = <
  Params extends z.ZodMiniType = z.ZodMiniType<undefined>,
  Query extends z.ZodMiniType = z.ZodMiniType<undefined>,
  Headers extends z.ZodMiniType = z.ZodMiniType<undefined>,
  Body extends z.ZodMiniType = z.ZodMiniType<undefined>,
>(
  stated: Route<Params, Query, Headers, Body>,
): Route<Params, Query, Headers, Body> => stated;

/** How API Gateway names a route. */
export const routeKey = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;
