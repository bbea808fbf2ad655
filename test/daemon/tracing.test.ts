import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { startDaemon } from '../../src/daemon.ts';
import { openUnix, openWebSocket } from '../server/wire.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HANG_MS, until } from '../until.ts';
import { startCollector } from './collector.ts';
import type { Collector } from './collector.ts';
import { run } from './processes.ts';
import { connect, readLog, serve, temporaryHome } from './serve.ts';

test('sends a span for each call and each commit if OTEL_* is set, without content', async () => {
  const collector = await startCollector();
  const { home, daemon } = await startTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'my-troupe',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
  });
  await work(home);
  await sendAll(home, collector);
  await daemon.close();

  expect([...collector.paths]).toEqual(['POST /v1/traces application/json']);
  for (const resource of collector.resources()) {
    expect(resource).toMatchObject({ 'service.name': 'my-troupe', 'deployment.environment': 'test' });
  }
  const spans = collector.spans();
  const sent = spans.find(({ name }) => name === 'message.send');
  expect(sent).toMatchObject({
    attributes: { 'troupe.code': 'ok', 'troupe.team': 'demo', 'troupe.member': 'lead' },
    isError: false,
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

test('makes one trace of a run: the team, its tasks, their turns, and gates', async () => {
  const collector = await startCollector();
  const { home, daemon } = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const client = connect(home);
  const teamId = 'demo';
  await client.call('team.create', { name: teamId });
  const gate = { type: 'TaskCompleted', command: 'exit 0' } as const;
  await client.call('hook.register', { teamId, ...gate });
  for (const title of ['First', 'Second']) await client.call('task.create', { teamId, title });
  const agent = { kind: 'exec', command: ['sh', '-c', 'cat >/dev/null; echo canary'] } as const;
  await client.call('member.spawn', { teamId, name: 'ann', role: 'worker', prompt: 'Work.', agent });
  await until('both tasks are completed', async () =>
    (await client.call('task.list', { teamId })).every(({ status }) => status === 'completed'),
  );
  await client.call('team.close', { teamId, force: true });
  await client.call('team.show', { teamId: 'nobody' }).catch(() => {});
  await until('all spans have come', () => collector.spans().some(({ name }) => name === 'team.run'));
  await daemon.close();

  const spans = collector.spans();
  const [run, ...others] = spans.filter(({ name }) => name === 'team.run');
  expect(others).toEqual([]);
  const ofTeam = spans.filter(({ attributes }) => attributes['troupe.team'] === teamId);
  expect(new Set(ofTeam.map(({ traceId }) => traceId))).toEqual(new Set([run?.traceId]));
  const tasks = spans.filter(({ name }) => name === 'task');
  expect(tasks.map(({ attributes, parentSpanId }) => [attributes['troupe.task'], parentSpanId])).toEqual([
    ['1', run?.spanId],
    ['2', run?.spanId],
  ]);
  const under = (name: string) =>
    spans
      .filter((span) => span.name === name)
      .map(({ parentSpanId }) => tasks.findIndex((one) => one.spanId === parentSpanId));
  expect(under('invoke_agent ann').filter((at) => at >= 0)).toEqual([0, 1]);
  expect(under('gate')).toEqual([0, 1]);
  expect(spans.find(({ name }) => name === 'gate')?.attributes).toMatchObject({ 'troupe.verdict': 'allowed' });
  expect(spans.find(({ name }) => name === 'invoke_agent ann')?.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': 'exec',
    'gen_ai.agent.name': 'ann',
    'gen_ai.agent.id': 'ann@demo',
  });
  expect(collector.bodies.join('\n')).not.toMatch(/canary/);
});

test('joins the trace of its caller; an append for many calls is linked to each', async () => {
  const collector = await startCollector();
  const { home, daemon } = await startTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
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
  await sendAll(home, collector);
  await daemon.close();

  const spans = collector.spans();
  const created = spans.find(({ traceId, name }) => traceId === rest && name === 'task.create');
  expect(created).toMatchObject({ parentSpanId: '1'.repeat(16) });
  expect(spans.find(({ parentSpanId }) => parentSpanId === created?.spanId)).toMatchObject({ name: 'journal.append' });
  expect(spans.find(({ parentSpanId }) => parentSpanId === '2'.repeat(16))).toMatchObject({ traceId: mcp });
  expect(spans.filter(({ traceId }) => traceId === other)).toEqual([]);
  const shared = spans.find(({ linked }) => linked.length > 1);
  const run = spans.find(({ name }) => name === 'team.run');
  expect(shared).toMatchObject({ name: 'journal.append', parentSpanId: run?.spanId });
  const calls = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  expect(new Set(shared?.linked.map((id) => calls.get(id)))).toEqual(new Set(['task.create']));
  expect(readLog(home)).toContainEqual(
    expect.objectContaining({ event: 'tracing.unsupported', protocol: 'http/protobuf', supported: 'http/json' }),
  );
});

test('joins the trace of its caller over every connection', async () => {
  const collector = await startCollector();
  const { home, daemon } = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await work(home);
  const token = readFileSync(home.tokenFile, 'utf8').trim();
  const authorization = `Bearer ${token}`;
  const traceOf = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
  const show = { type: 'task.list', payload: { teamId: 'demo' } };
  const [unix, webSocket] = [await openUnix(home.socket, token), await openWebSocket(daemon.url, { authorization })];
  await unix.ask({ ...show, traceparent: traceOf('1') });
  await webSocket.ask({ ...show, traceparent: traceOf('2') });
  // An invalid traceparent is ignored, whatever its type.
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
    // The traceparent of the call itself takes precedence.
    traceparent: traceOf('5'),
  };
  const body = JSON.stringify(call(traceOf('6')));
  expect(await (await fetch(`${daemon.url}/mcp`, { method: 'POST', headers, body })).text()).toContain(
    'No tasks found',
  );
  unix.close();
  webSocket.close();
  await sendAll(home, collector);
  await daemon.close();

  const lists = collector.spans().filter(({ name }) => name === 'task.list');
  const run = collector.spans().find(({ name }) => name === 'team.run');
  const parents = lists.flatMap(({ parentSpanId, traceId }) =>
    parentSpanId === run?.spanId ? [] : `${traceId} ${parentSpanId}`,
  );
  expect(parents).toEqual(['1', '2', '4', '6'].map((digit) => `${digit.repeat(32)} ${digit.repeat(16)}`));
  expect(lists).toHaveLength(2 + 5 + 2 + 1);
});

const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

test('ends without its collector if that is away or does not answer, and says so once', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  for (const port of [9, (silent.address() as AddressInfo).port]) {
    const home = temporaryHome();
    // The absent collector is tried again and again, the silent one only at the end.
    const delay = port === 9 ? '50' : String(10 * HANG_MS);
    const daemon = await serve(home, {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_TIMEOUT: port === 9 ? '500' : '10000',
        OTEL_BSP_SCHEDULE_DELAY: delay,
      },
    });
    await work(home);
    // By default the exporter would try for ten seconds before it reports anything.
    if (port === 9) await until('it is in the log', () => readLog(home).some(isFailure));
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toBe(0);
    // The exporter's own message, after ten seconds, is another one.
    const said = port === 9 ? /cannot be reached/ : /did not take the last spans within 500 ms/;
    expect(readLog(home).filter(isFailure)).toMatchObject([{ message: expect.stringMatching(said) as string }]);
  }
});

const isFailure = ({ event }: Record<string, unknown>): boolean => event === 'tracing.failed';

const COLLECTOR = 'http://127.0.0.1:9';

test.each<[string, Record<string, string>]>([
  ['without an endpoint', {}],
  ['when the SDK is disabled', { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR }],
  ['when traces are not to be exported', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR }],
])('loads nothing and starts nothing %s', async (_when, env) => {
  const modules = join(temporaryFolder(), 'modules.txt');
  const program = run('start-tracing', [], { env: { ...process.env, ...env, ...recordingIn(modules) } });
  expect(await program.ended, program.output.stderr).toBe(0);
  expect(program.output.stdout).toBe('tracing: false\n');
  const loaded = readFileSync(modules, 'utf8');
  expect(loaded).toContain('/src/runtime/tracing.ts\n');
  expect(loaded).not.toContain('opentelemetry');
});

test('a daemon that sends no traces loads no module for tracing', async () => {
  const home = temporaryHome();
  const modules = join(home.directory, 'modules.txt');
  const daemon = await serve(home, { env: recordingIn(modules) });
  await work(home);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);
  const loaded = readFileSync(modules, 'utf8');
  expect(loaded).toMatch(/\/(src\/daemon.ts|dist\/cli\/program-serve.js)\n/);
  expect(loaded).not.toContain('opentelemetry');
});

/** Lets a program write down which modules it loads. */
function recordingIn(file: string): Record<string, string> {
  const recorder = join(import.meta.dirname, 'programs/record-modules.ts');
  return { NODE_OPTIONS: `--import=${recorder}`, TROUPE_TEST_MODULES: file };
}

test('uses the configured sampler', async () => {
  const collector = await startCollector();
  const { home, daemon } = await startTraced({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_TRACES_SAMPLER: 'always_off',
  });
  await work(home);
  await daemon.close();
  expect(collector.bodies).toEqual([]);
});

test('says that it does not support gRPC', async () => {
  const { home, daemon } = await startTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  });
  await daemon.close();
  expect(readLog(home)).toContainEqual(expect.objectContaining({ event: 'tracing.unsupported', protocol: 'grpc' }));
});

/** A daemon in this process. The variables are set until the test ends. */
async function startTraced(variables: Record<string, string>) {
  const quickly = { OTEL_BSP_SCHEDULE_DELAY: '20', ...variables };
  for (const [name, value] of Object.entries(quickly)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const home = temporaryHome();
  const daemon = await startDaemon({ home });
  onTestFinished(() => daemon.close());
  return { home, daemon };
}

/** Makes a last span and waits for it, since spans come in order. A daemon that ends waits only half a second. */
async function sendAll(home: Home, collector: Collector): Promise<void> {
  await connect(home).call('daemon.status', {});
  await until('all spans have come', () => collector.spans().some(({ name }) => name === 'daemon.status'));
}

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
