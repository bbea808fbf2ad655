import { z } from 'zod';
import { ERROR_CODES } from '../core/errors.ts';
import type { Scope } from '../operations/caller.ts';
import { OPERATIONS } from '../operations/index.ts';
import type { Operation } from '../operations/operation.ts';
import { Teammate, TeammateTask } from '../operations/teammate-views.ts';
import { jsonSchema, namedSchemas, refTo } from './named-schemas.ts';

/** The id of an agent, for programs that know agents instead of teams. */
const AGENT_ID = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { type: 'string', description: "name@team, or a lead's session id" },
};

/** The member that a person speaks for. */
const AS = {
  name: 'X-Troupe-As',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    description: "the member that a person acts for (default: the person). A member's own token needs none.",
  },
};

let made: object | undefined;

/** The REST interface as an OpenAPI 3.1 document, made from the table of operations. */
export function openApiDocument(): object {
  made ??= {
    openapi: '3.1.0',
    info: { title: 'Troupe', version: '1', description: 'A runtime for teams of coding agents.' },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: { ...pathsOf(OPERATIONS), ...furtherPaths() },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: TOKEN_TEXT } },
      schemas: { Error: ERROR_SCHEMA, ...namedSchemas(), EventsFrame: EVENTS_FRAME },
    },
  };
  return made;
}

const TOKEN_TEXT =
  "Authorization: Bearer TOKEN. Yours is in the file that `troupe status` names; `troupe member token NAME --team TEAM` makes a member's.";

/** The data of a server-sent event, and a frame of a WebSocket that subscribed. */
const EVENTS_FRAME = {
  type: 'object',
  required: ['type', 'teamId', 'seq', 'events'],
  properties: {
    type: { const: 'events' },
    teamId: { type: 'string' },
    seq: { type: 'integer', description: 'the number of the batch: the cursor to resume from' },
    events: { type: 'array', items: refTo('Event') },
  },
};

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERROR_CODES) },
        message: { type: 'string' },
        facts: {
          type: 'object',
          description: 'Details for programs: problems, needs, option, list, setting, errno.',
        },
      },
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
  // Many programs send no body with a DELETE, and some cannot.
  const inQuery = isRead || method === 'DELETE';
  const parameters = [
    ...inPath.map((key) => ({ name: key, in: 'path', required: true, schema: properties[key] ?? { type: 'string' } })),
    ...(inQuery ? others : []).map(([key, schema]) => ({
      name: key,
      in: 'query',
      required: required.includes(key),
      schema,
    })),
    ...(isRead ? [] : [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } }]),
    ...(scope === 'admin' ? [] : [AS]),
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
    ...(!inQuery &&
      others.length > 0 && {
        requestBody: { required: body.required.length > 0, content: { 'application/json': { schema: body } } },
      }),
    responses: responsesWith('application/json', jsonSchema(result)),
  };
}

function responsesWith(type: string, schema: object): object {
  return {
    200: { description: 'Done', content: { [type]: { schema } } },
    default: {
      description: 'Refused; the code says why',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  };
}

/** The addresses besides the operations; none of them changes anything. */
function furtherPaths(): Record<string, { get: object }> {
  return {
    '/api/agents/{id}/teammates': further('agent.teammates', 'List the teammates of an agent', {
      parameters: [AGENT_ID],
      schema: jsonSchema(z.array(Teammate)),
    }),
    '/api/agents/{id}/team-tasks': further('agent.teamTasks', "List all tasks of an agent's team", {
      parameters: [AGENT_ID],
      schema: jsonSchema(z.array(TeammateTask)),
    }),
    '/api/teams/{teamId}/events': further(
      'team.events',
      'Follow a team: its events after a batch, then new ones, as server-sent events until you disconnect',
      {
        parameters: [
          { name: 'teamId', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'after', in: 'query', required: false, schema: { type: 'string' } },
          { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
        ],
        type: 'text/event-stream',
        schema: { type: 'string', contentMediaType: 'application/json', contentSchema: refTo('EventsFrame') },
      },
    ),
    '/health': further('daemon.health', 'Whether the daemon is healthy', {
      schema: { type: 'object', required: ['status'], properties: { status: { enum: ['ok', 'degraded'] } } },
    }),
    '/metrics': further('daemon.metrics', 'Metrics for Prometheus', { scope: 'admin', type: 'text/plain' }),
  };
}

function further(
  operationId: string,
  summary: string,
  {
    scope = 'reader',
    parameters = [],
    type = 'application/json',
    schema = { type: 'string' },
  }: { scope?: Scope; parameters?: readonly object[]; type?: string; schema?: object },
): { get: object } {
  const [tag] = operationId.split('.');
  const description = `Needs the scope ${scope}.`;
  return {
    get: { operationId, summary, description, tags: [tag], parameters, responses: responsesWith(type, schema) },
  };
}
