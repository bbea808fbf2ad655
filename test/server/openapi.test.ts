import { expect, test } from 'vitest';
import { z } from 'zod';
import { OPERATIONS } from '../../src/operations/index.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { setStage } from './stage.ts';

const Schema = z.looseObject({});
const Body = z.object({ schema: Schema });
const Content = z.object({ 'application/json': Body });
const Answer = z.partialRecord(z.enum(['application/json', 'text/event-stream', 'text/plain']), Body);
const Method = z.strictObject({
  operationId: z.string(),
  summary: z.string().min(1),
  description: z.string(),
  tags: z.array(z.string()),
  parameters: z.array(
    z.strictObject({
      name: z.string(),
      in: z.enum(['path', 'query', 'header']),
      required: z.boolean(),
      schema: Schema,
    }),
  ),
  requestBody: z.strictObject({ required: z.boolean(), content: Content }).optional(),
  responses: z.record(z.string(), z.strictObject({ description: z.string(), content: Answer })),
});
const Document = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.object({ title: z.string(), version: z.string() }),
  servers: z.array(z.object({ url: z.string() })),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  paths: z.record(z.string().startsWith('/'), z.partialRecord(z.enum(['get', 'post', 'patch', 'delete']), Method)),
  components: z.object({ securitySchemes: Schema, schemas: Schema }),
});

const document = Document.parse(JSON.parse(JSON.stringify(openApiDocument())));

/** The addresses besides the operations. */
const FURTHER = [
  '/api/agents/{id}/team-tasks',
  '/api/agents/{id}/teammates',
  '/api/teams/{teamId}/events',
  '/health',
  '/metrics',
];

test('the document has every operation once', () => {
  const operations = Object.entries(document.paths).filter(([path]) => !FURTHER.includes(path));
  const ids = operations.flatMap(([, methods]) => Object.values(methods).map((one) => one.operationId));
  expect(ids.sort()).toEqual(OPERATIONS.map(({ name }) => name).sort());
});

test('the document describes the header X-Troupe-As and says where a token is', () => {
  const headers = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ parameters }) => parameters.filter(({ name }) => name === 'X-Troupe-As')),
  );
  expect(headers.length).toBeGreaterThan(0);
  for (const { schema } of headers) expect(schema['description']).toContain('the member that a person acts for');
  expect(document.components.securitySchemes['token']).toMatchObject({
    description: expect.stringContaining('Authorization: Bearer TOKEN'),
  });
});

test('the document has the addresses besides the operations, and they exist', async () => {
  const stage = await setStage();
  for (const path of FURTHER) {
    const [type = ''] = Object.keys(document.paths[path]?.get?.responses['200']?.content ?? {});
    const address = stage.url + path.replace('{id}', 'lead@demo').replace('{teamId}', 'demo');
    const answer = await fetch(address, { headers: { authorization: `Bearer ${stage.token}` } });
    expect({ path, status: answer.status, type: answer.headers.get('content-type')?.split(';')[0] }).toEqual({
      path,
      status: 200,
      type,
    });
    await answer.body?.cancel();
  }
});

test('a DELETE has its inputs in the address and no body', () => {
  const { parameters, requestBody } = document.paths['/api/teams/{teamId}']?.delete ?? {};
  expect(parameters?.map(({ name, in: place }) => `${name} in ${place}`)).toContain('force in query');
  expect(requestBody).toBeUndefined();
});

test('exactly the path parameters are declared', () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort();
    for (const { operationId, parameters } of Object.values(methods)) {
      const declared = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      expect({ operationId, declared: declared.sort() }).toEqual({ operationId, declared: inPath });
    }
  }
});

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
  for (const reference of references) {
    let at: unknown = document;
    for (const key of reference.split('/')) at = (at as Record<string, unknown>)[key];
    expect({ reference, found: at !== undefined }).toEqual({ reference, found: true });
  }
});

test('required inputs are required, dates are text', () => {
  const create = document.paths['/api/teams/{teamId}/tasks']?.post;
  const body = create?.requestBody?.content['application/json'].schema as { required: string[]; properties: object };
  expect(body.required).toEqual(['title']);
  expect(create?.requestBody?.required).toBe(true);
  expect(document.paths['/api/teams/{teamId}/claim']?.post?.requestBody?.required ?? false).toBe(false);
  expect(Object.keys(body.properties)).toContain('priority');
  const inbox = document.paths['/api/teams/{teamId}/inbox']?.get;
  expect(inbox?.parameters.find(({ name }) => name === 'since')?.schema).toMatchObject({
    type: 'string',
    format: 'date-time',
  });
});

test('has named schemas, which results refer to', () => {
  const { schemas } = document.components;
  for (const name of ['Task', 'Member', 'Team', 'Message', 'Request', 'Note', 'Hook', 'Usage', 'Batch', 'Event']) {
    expect(Object.keys(schemas)).toContain(name);
  }
  const result = (path: string) => document.paths[path]?.get?.responses['200']?.content['application/json']?.schema;
  const task = { $ref: '#/components/schemas/Task' };
  expect(result('/api/teams/{teamId}/tasks/{taskId}')).toEqual(task);
  expect(result('/api/teams/{teamId}/tasks')).toMatchObject({ type: 'array', items: task });
  expect(schemas['Team']).toMatchObject({
    properties: { members: { items: { $ref: '#/components/schemas/Member' } } },
  });
});

test('describes every event by its type, and real events fit', async () => {
  const { schemas } = document.components;
  const { discriminator } = schemas['Event'] as { discriminator: { mapping: Record<string, string> } };
  const stage = await setStage();
  await stage.act('task.create', { teamId: 'demo', title: 'First' });
  await stage.act('task.claim', { teamId: 'demo' }, 'worker');
  await stage.act('message.send', { teamId: 'demo', toId: 'worker', content: 'hi' }, 'lead');
  const batches = await stage.act('event.list', { teamId: 'demo' });
  const events = batches.flatMap((batch) => batch.events);
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(4);
  for (const event of events) {
    const name = discriminator.mapping[event.type]?.split('/').at(-1) ?? '';
    const { properties, required } = schemas[name] as { properties: Record<string, unknown>; required: string[] };
    expect(properties['type']).toMatchObject({ const: event.type });
    expect(Object.keys(event).filter((key) => !(key in properties))).toEqual([]);
    expect(required.filter((key) => !(key in event))).toEqual([]);
  }
});

test('says which methods an address takes if it does not take this one', async () => {
  const stage = await setStage();
  const ask = (method: string, path: string): Promise<Response> =>
    fetch(stage.url + path, { method, headers: { authorization: `Bearer ${stage.token}` } });
  for (const [method, path, allow] of [
    ['PUT', '/api/teams/demo/tasks', 'GET, HEAD, POST'],
    ['DELETE', '/health', 'GET, HEAD'],
    ['GET', '/api/login', 'POST'],
    ['POST', '/api/openapi.json', 'GET, HEAD'],
  ] as const) {
    const answer = await ask(method, path);
    expect({ path, status: answer.status, allow: answer.headers.get('allow') }).toEqual({ path, status: 405, allow });
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringContaining(`not take ${method}`) as string },
    });
  }
  expect((await ask('GET', '/api/nothing')).status).toBe(404);
});
