import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { openUnix, openWebSocket } from '../server/wire.ts';
import { until } from '../until.ts';
import { startCollector } from './collector.ts';
import { connect, readLog, serve, temporaryHome } from './serve.ts';

test('sends a span for each call and each commit when OTEL_* asks for it, and no content', async () => {
  const home = temporaryHome();
  const collector = await startCollector();
  const daemon = await serve(home, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'my-troupe',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
  });
  await work(home);
  await until('spans arrive while it runs', () => collector.spans().some(({ name }) => name === 'team.create'));
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);

  expect([...collector.paths]).toEqual(['POST /v1/traces application/json']);
  for (const resource of collector.resources()) {
    expect(resource).toMatchObject({ 'service.name': 'my-troupe', 'deployment.environment': 'test' });
  }
  const spans = collector.spans();
  const sent = spans.find(({ name }) => name === 'message.send');
  expect(sent).toMatchObject({
    attributes: { 'troupe.code': 'ok', 'troupe.team': 'demo', 'troupe.member': 'lead' },
    isError: false,
    parentSpanId: undefined,
  });
  expect(spans).toContainEqual(
    expect.objectContaining({ name: 'journal.append', parentSpanId: sent?.spanId, traceId: sent?.traceId }),
  );
  expect(spans.find(({ name }) => name === 'task.show')).toMatchObject({
    attributes: { 'troupe.code': 'not_found', 'troupe.team': 'demo' },
    isError: true,
  });
  const appends = spans.filter(({ name }) => name === 'journal.append');
  expect(appends.length).toBeGreaterThanOrEqual(2);
  expect(appends[0]).toMatchObject({
    attributes: { 'troupe.team': 'demo', 'troupe.events': expect.any(Number) as number },
  });
  for (const { durationMs } of spans) expect(durationMs).toBeGreaterThanOrEqual(0);
  expect(collector.bodies.join('\n')).not.toMatch(/canary/);
});

test('is part of what its callers trace; an append for many calls is linked to each', async () => {
  const home = temporaryHome();
  const collector = await startCollector();
  const daemon = await serve(home, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
  });
  await work(home);
  const token = readFileSync(home.tokenFile, 'utf8').trim();
  const ask = async (path: string, traceparent: string, body: object): Promise<string> => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-troupe-teams': '1',
      'x-troupe-team': 'demo',
      traceparent,
    };
    return (await fetch(`${daemon.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).text();
  };
  const [rest, mcp, other] = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [string, string, string];
  await ask('/api/teams/demo/tasks', `00-${rest}-${'1'.repeat(16)}-01`, { title: 'over REST' });
  const params = { name: 'TaskList', arguments: {} };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  expect(await ask('/mcp', `00-${mcp}-${'2'.repeat(16)}-01`, call)).toContain('over REST');
  await ask('/api/teams/demo/tasks', `00-${other}-${'3'.repeat(16)}-00`, { title: 'not sampled' });
  await ask('/api/teams/demo/tasks', 'nonsense', { title: 'of nobody' });
  const client = connect(home);
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => client.call('task.create', { teamId: 'demo', title: `${n}` })),
  );
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);

  const spans = collector.spans();
  const created = spans.find(({ traceId, name }) => traceId === rest && name === 'task.create');
  expect(created).toMatchObject({ parentSpanId: '1'.repeat(16) });
  expect(spans.find(({ parentSpanId }) => parentSpanId === created?.spanId)).toMatchObject({ name: 'journal.append' });
  expect(spans.find(({ parentSpanId }) => parentSpanId === '2'.repeat(16))).toMatchObject({ traceId: mcp });
  expect(spans.filter(({ traceId }) => traceId === other)).toEqual([]);
  const shared = spans.find(({ linked }) => linked.length > 1);
  expect(shared).toMatchObject({ name: 'journal.append', parentSpanId: undefined });
  const calls = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  expect(new Set(shared?.linked.map((id) => calls.get(id)))).toEqual(new Set(['task.create']));
  expect(readLog(home)).toContainEqual(
    expect.objectContaining({ event: 'tracing.unsupported', protocol: 'http/protobuf', supported: 'http/json' }),
  );
});

test('is part of what its callers trace over every connection', async () => {
  const home = temporaryHome();
  const collector = await startCollector();
  const daemon = await serve(home, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  await work(home);
  const token = readFileSync(home.tokenFile, 'utf8').trim();
  const authorization = `Bearer ${token}`;
  const traceOf = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
  const show = { type: 'task.list', payload: { teamId: 'demo' } };
  const [unix, webSocket] = [await openUnix(home.socket, token), await openWebSocket(daemon.url, { authorization })];
  await unix.ask({ ...show, traceparent: traceOf('1') });
  await webSocket.ask({ ...show, traceparent: traceOf('2') });
  // What is none is ignored, whatever it is.
  for (const traceparent of ['nonsense', 7, null, { toString: 'x' }, [traceOf('3')]]) {
    expect(await unix.ask({ ...show, traceparent })).toMatchObject({ type: 'result' });
  }
  unix.send({ type: 'mcp', id: 'mcp', payload: { teams: true, team: 'demo' } });
  await unix.take(({ id }) => id === 'mcp');
  const call = (traceparent: unknown) => ({
    jsonrpc: '2.0',
    id: String(traceparent),
    method: 'tools/call',
    params: { name: 'TaskList', arguments: {}, _meta: { traceparent } },
  });
  unix.send({ jsonrpc: '2.0', id: 'begin', method: 'initialize', params: INITIALIZE });
  await unix.take(({ id }) => id === 'begin');
  unix.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (const traceparent of [traceOf('4'), 7]) {
    unix.send(call(traceparent));
    expect(await unix.take(({ id }) => id === String(traceparent))).toHaveProperty('result');
  }
  const headers = {
    authorization,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-troupe-teams': '1',
    'x-troupe-team': 'demo',
    // What the call itself says is nearer to it.
    traceparent: traceOf('5'),
  };
  const body = JSON.stringify(call(traceOf('6')));
  expect(await (await fetch(`${daemon.url}/mcp`, { method: 'POST', headers, body })).text()).toContain(
    'No tasks found',
  );
  unix.close();
  webSocket.close();
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);

  const lists = collector.spans().filter(({ name }) => name === 'task.list');
  const parents = lists.flatMap(({ parentSpanId, traceId }) => (parentSpanId ? `${traceId} ${parentSpanId}` : []));
  expect(parents).toEqual(['1', '2', '4', '6'].map((digit) => `${digit.repeat(32)} ${digit.repeat(16)}`));
  expect(lists).toHaveLength(2 + 5 + 2 + 1);
});

const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

test('is hardly held up when its collector is away or takes nothing, and says so', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  for (const port of [9, (silent.address() as AddressInfo).port]) {
    const home = temporaryHome();
    const daemon = await serve(home, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } });
    await work(home);
    // With nothing set, the exporter would try for ten seconds before it says anything.
    if (port === 9) await until('it is in the log', () => readLog(home).some(isFailure));
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toBe(0);
    const log = readLog(home);
    expect(log.filter(isFailure)).toHaveLength(1);
    const stopping = log.find(({ event }) => event === 'daemon.stopping');
    const took = Date.now() - Date.parse(String(stopping?.['time']));
    expect(took).toBeLessThan(1_900);
  }
});

const isFailure = ({ event }: Record<string, unknown>): boolean => event === 'tracing.failed';

test.each<[string, Record<string, string>]>([
  ['without an endpoint', {}],
  ['when the SDK is disabled', { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'here' }],
  ['when traces are not to be exported', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'here' }],
])('loads and sends nothing %s', async (_when, env) => {
  const home = temporaryHome();
  const collector = await startCollector();
  const modules = join(home.directory, 'modules.txt');
  const daemon = await serve(home, {
    env: {
      ...env,
      ...(env['OTEL_EXPORTER_OTLP_ENDPOINT'] && { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'programs/record-modules.ts')}`,
      TROUPE_TEST_MODULES: modules,
    },
  });
  await work(home);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);
  const loaded = readFileSync(modules, 'utf8');
  expect(loaded).toMatch(/\/(src\/daemon.ts|dist\/cli\/program-serve.js)\n/);
  expect(loaded).not.toContain('opentelemetry');
  expect(collector.bodies).toEqual([]);
});

test('samples as it is told to', async () => {
  const home = temporaryHome();
  const collector = await startCollector();
  const daemon = await serve(home, {
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`, OTEL_TRACES_SAMPLER: 'always_off' },
  });
  await work(home);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);
  expect(collector.bodies).toEqual([]);
});

test('is not held up by a collector that is not there, and says so once', async () => {
  const home = temporaryHome();
  const daemon = await serve(home, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  await work(home);
  await until('it is in the log', () => readLog(home).some(({ event }) => event === 'tracing.failed'));
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);
  expect(readLog(home).filter(({ event }) => event === 'tracing.failed')).toHaveLength(1);
});

test('says that it speaks no gRPC', async () => {
  const home = temporaryHome();
  await serve(home, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  });
  expect(readLog(home)).toContainEqual(expect.objectContaining({ event: 'tracing.unsupported', protocol: 'grpc' }));
});

async function work(home: Home): Promise<void> {
  const client = connect(home);
  await client.call('team.create', { name: 'demo', description: 'canary in a description' });
  await client.call('member.add', { teamId: 'demo', name: 'worker' });
  const message = { teamId: 'demo', toId: 'worker', content: 'canary in a message' };
  await client.call('message.send', message, { as: 'lead' });
  await client.call('task.show', { teamId: 'demo', taskId: '7' }).catch(() => {});
  await client.call('team.show', { teamId: 'canary in a name' }).catch(() => {});
  await client.call('canary in an operation' as 'team.show', { teamId: 'demo' }).catch(() => {});
}
