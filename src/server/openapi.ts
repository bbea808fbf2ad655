import { z } from 'zod';
import { ERROR_CODES } from '../core/errors.ts';
import { OPERATIONS } from '../operations/index.ts';
import type { Operation } from '../operations/operation.ts';

interface JsonSchema {
  readonly [key: string]: unknown;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

let made: object | undefined;

/** The REST interface as an OpenAPI 3.1 document, made from the table of operations. */
export function openApiDocument(): object {
  made ??= {
    openapi: '3.1.0',
    info: { title: 'Troupe', version: '1', description: 'A runtime for teams of coding agents.' },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: pathsOf(OPERATIONS),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: ERROR_SCHEMA },
    },
  };
  return made;
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'string', enum: Object.keys(ERROR_CODES) }, message: { type: 'string' } },
    },
  },
};

function pathsOf(operations: readonly Operation[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const [method = '', route = ''] = operation.route.split(' ');
    const path = route.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[method.toLowerCase()] = describe(operation, method, route);
  }
  return paths;
}

function describe({ name, summary, scope, input, result }: Operation, method: string, route: string): object {
  const { properties = {}, required = [] } = jsonSchema(input);
  const inPath = [...route.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter as string);
  const others = Object.entries(properties).filter(([key]) => !inPath.includes(key));
  const isRead = method === 'GET';
  const parameters = [
    ...inPath.map((key) => ({ name: key, in: 'path', required: true, schema: properties[key] ?? { type: 'string' } })),
    ...(isRead ? others : []).map(([key, schema]) => ({
      name: key,
      in: 'query',
      required: required.includes(key),
      schema,
    })),
    ...(isRead ? [] : [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } }]),
    ...(scope === 'admin' ? [] : [{ name: 'X-Troupe-As', in: 'header', required: false, schema: { type: 'string' } }]),
  ];
  const body = {
    type: 'object',
    properties: Object.fromEntries(others),
    required: required.filter((key) => !inPath.includes(key)),
    additionalProperties: false,
  };
  return {
    operationId: name,
    summary,
    description: `Needs the scope ${scope}.`,
    tags: [name.split('.')[0]],
    parameters,
    ...(!isRead && others.length > 0 && { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: jsonSchema(result) } } },
      default: {
        description: 'Refused; the code says why',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return rest;
}
