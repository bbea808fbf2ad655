import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { McpServer } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { mcpFace } from '../../src/mcp/face.ts';
import type { McpFace } from '../../src/mcp/face.ts';
import { postMcp } from '../mcp/post.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import type { StartOptions } from './start.ts';
import { openUnix } from './wire.ts';
import type { Frame, Wire } from './wire.ts';

const teamId = 'demo';
const SEARCH = { name: 'NoteSearch', arguments: { query: 'needle' } };
const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** A stage with MCP over lines and over HTTP. */
async function setMcpStage(options: StartOptions = {}): Promise<Stage> {
  const stage = await setStage({
    ...options,
    mcp: (request, asking) => face.http(request, asking),
    lines: (...given) => face.lines(...given),
  });
  const face: McpFace = mcpFace(stage.hub.services);
  onTestFinished(() => face.close());
  return stage;
}

/** A stage where a search finds more than the kernel buffers, with the number of searches so far. */
async function setLongStage(result = 'x'.repeat(20_000)): Promise<Stage & { searches: () => number }> {
  const stage = await setMcpStage();
  for (let i = 0; i < 20; i++) {
    const { id: taskId } = await stage.act('task.create', { teamId, title: `Task ${i}` });
    await stage.act('task.claim', { teamId, taskId }, 'worker');
    await stage.act('task.complete', { teamId, taskId, result: `needle ${result}` }, 'worker');
  }
  const { memory } = stage.hub.services;
  const search = memory.search.bind(memory);
  let count = 0;
  memory.search = (...given) => {
    count++;
    return search(...given);
  };
  return { ...stage, searches: () => count };
}

/** A connection that speaks MCP from now on. */
async function openLines({ home }: Stage, token: string): Promise<Wire> {
  const wire = await openUnix(home.socket, token);
  wire.send({ type: 'mcp', id: 'mcp', payload: {} });
  await wire.take(({ id }) => id === 'mcp');
  wire.send({ jsonrpc: '2.0', id: 'begin', ...INITIALIZE });
  await wire.take(({ id }) => id === 'begin');
  wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return wire;
}

/** Begins a session over HTTP; returns a function that calls a tool in it. */
async function beginHttp({ url }: Stage, token: string): Promise<(id: number, params: object) => Promise<Response>> {
  const post = (message: object, headers?: Record<string, string>): Promise<Response> =>
    postMcp(`${url}/mcp`, token, message, headers);
  const begun = await post({ id: 0, ...INITIALIZE });
  await begun.text();
  const headers = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  return (id, params) => post({ id, method: 'tools/call', params }, headers);
}

function callTool(wire: Wire, id: number | string, params: object): void {
  wire.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
}

async function answerOf(wire: Wire, id: number | string): Promise<Frame> {
  const { result } = await wire.take((frame) => frame.id === id);
  return (result as { structuredContent: Frame }).structuredContent;
}

test('tools over lines make a few long answers at a time, and more when these were read', async () => {
  const stage = await setLongStage();
  const wires = await Promise.all([1, 2, 3, 4].map(() => openLines(stage, stage.tokens.worker)));
  for (const wire of wires) {
    wire.pause();
    for (let id = 1; id <= 6; id++) callTool(wire, id, SEARCH);
  }
  await expect.poll(stage.searches).toBeGreaterThan(0);
  const other = await openLines(stage, stage.tokens.other);
  for (let id = 1; id <= 20; id++) {
    callTool(other, id, { name: 'TaskGet', arguments: { taskId: '1' } });
    expect(await answerOf(other, id)).toMatchObject({ task: { id: '1' } });
  }
  expect(stage.searches()).toBe(2);
  callTool(other, 'search', SEARCH);
  expect((await answerOf(other, 'search'))['found']).toHaveLength(20);
  expect(stage.searches()).toBe(3);

  // A client that disconnects frees its places, and no more answers are made for it.
  const [gone, ...staying] = wires;
  gone?.close();
  for (const wire of staying) wire.resume();
  for (const wire of staying) {
    for (let id = 1; id <= 6; id++) expect((await answerOf(wire, id))['found']).toHaveLength(20);
  }
  expect(stage.searches()).toBeLessThanOrEqual(3 + 6 * 3 + 2);
  expect(stage.errors).toEqual([]);
});

test('tools over HTTP make a few long answers at a time', async () => {
  // As JSON it is six times as long, more than the kernel and the client's library buffer.
  const stage = await setLongStage('\u0001'.repeat(60_000));
  const begin = async (token: string): Promise<(id: number) => Promise<Response>> => {
    const call = await beginHttp(stage, token);
    return (id) => call(id, SEARCH);
  };
  const search = await begin(stage.tokens.worker);
  const asked = [1, 2, 3, 4].map((id) => search(id));
  await expect.poll(stage.searches).toBe(2);
  const others = await begin(stage.tokens.other);
  expect(await (await others(1)).text()).toContain('needle');
  expect(stage.searches()).toBe(3);
  for (const text of await Promise.all(asked.map(async (answer) => (await answer).text()))) {
    expect(text).toContain('needle');
  }
  expect(stage.searches()).toBe(3 + 2);
});

test('a request of the tools that was answered leaves nothing in memory', async () => {
  const stage = await setMcpStage();
  const servers = followServers();
  const requests = 20;
  for (let id = 0; id < requests; id++) {
    // A connection of its own, which is closed after the answer.
    const answer = await postMcp(
      `${stage.url}/mcp`,
      stage.tokens.worker,
      { id, ...INITIALIZE },
      { connection: 'close' },
    );
    expect(await answer.text()).toContain('serverInfo');
  }
  // Each request had a server of its own.
  expect(servers).toHaveLength(requests);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const left = (): number => {
    collect();
    return servers.filter((server) => server.deref()).length;
  };
  // Each look collects all garbage of a worker that may have 500 MB.
  await expect.poll(left, { interval: 500 }).toBeLessThan(requests / 2);
});

/** The servers of the team tools that are connected from now on, and that nothing here keeps. */
function followServers(): readonly WeakRef<McpServer>[] {
  const connected: WeakRef<McpServer>[] = [];
  const prototype: { connect: (this: McpServer, ...given: Parameters<McpServer['connect']>) => Promise<void> } =
    McpServer.prototype;
  const { connect } = prototype;
  prototype.connect = function (transport) {
    connected.push(new WeakRef(this));
    return connect.call(this, transport);
  };
  onTestFinished(() => {
    prototype.connect = connect;
  });
  return connected;
}

test('tools hold no place for a long answer while they wait', async () => {
  const stage = await setLongStage();
  const wire = await openLines(stage, stage.tokens.worker);
  for (let id = 1; id <= 5; id++) callTool(wire, id, { name: 'Inbox', arguments: { wait_seconds: 60 } });
  callTool(wire, 'search', SEARCH);
  expect((await answerOf(wire, 'search'))['found']).toHaveLength(20);
  await stage.act('message.send', { teamId, toId: 'worker', content: 'Hello' }, 'lead');
  const { result } = await wire.take(({ id }) => typeof id === 'number');
  expect(result).toMatchObject({ structuredContent: { messages: [{ content: 'Hello' }] } });
});

test('a connection switches to MCP once, and has no listeners after it is closed', async () => {
  let isReady = (): void => {};
  const ready = new Promise<void>((resolve) => (isReady = resolve));
  const stage = await setStage({
    lines: async (...given) => {
      await ready;
      return face.lines(...given);
    },
  });
  const { services } = stage.hub;
  let listeners = 0;
  const ledger = Object.create(services.ledger, {
    subscribe: {
      value: (...given: Parameters<typeof services.ledger.subscribe>) => {
        listeners++;
        const stop = services.ledger.subscribe(...given);
        return () => void (stop(), listeners--);
      },
    },
  }) as typeof services.ledger;
  const face: McpFace = mcpFace({ ...services, ledger });

  const wire = await openUnix(stage.home.socket, stage.tokens.worker);
  for (let id = 1; id <= 5; id++) wire.send({ type: 'mcp', id, payload: {} });
  for (let id = 2; id <= 5; id++) {
    expect(await wire.take((frame) => frame.id === id)).toMatchObject({ type: 'error', error: { code: 'invalid' } });
  }
  isReady();
  expect(await wire.take(({ id }) => id === 1)).toMatchObject({ type: 'result' });
  expect(listeners).toBe(1);
  wire.close();
  await expect.poll(() => listeners).toBe(0);

  // After a refusal a client may ask again. A client that disconnects leaves nothing behind.
  const again = await openUnix(stage.home.socket, stage.tokens.worker);
  expect(await again.ask({ type: 'mcp', payload: { team: 'away' } })).toMatchObject({ error: { code: 'not_allowed' } });
  expect(await again.ask({ type: 'mcp', payload: {} })).toMatchObject({ type: 'result' });
  expect(listeners).toBe(1);
  again.close();
  await expect.poll(() => listeners).toBe(0);
});

test('calls that wait are counted together over all faces', async () => {
  const stage = await setMcpStage({ limits: { waitingCalls: 3 } });
  const { worker, other } = stage.tokens;
  const [first, second] = [await openLines(stage, worker), await openLines(stage, worker)];
  const overHttp = await beginHttp(stage, worker);
  const frames = await openUnix(stage.home.socket, worker);
  const wait = (name: string): object => ({ name, arguments: { wait_seconds: 60 } });
  const overRest = (): Promise<Response> =>
    fetch(`${stage.url}/api/teams/${teamId}/inbox?wait=60000`, { headers: { authorization: `Bearer ${worker}` } });
  callTool(first, 1, wait('Inbox'));
  callTool(second, 1, wait('TaskClaim'));
  // Calls that do not wait are not counted; they are handled after these.
  for (const wire of [first, second]) {
    callTool(wire, 'now', { name: 'Inbox', arguments: {} });
    await answerOf(wire, 'now');
  }
  // The response begins with the progress message that it waits.
  const third = await overHttp(1, { ...wait('Inbox'), _meta: { progressToken: 1 } });
  expect((await overRest()).status).toBe(429);

  for (const [id, name] of ['Inbox', 'TaskClaim'].entries()) {
    callTool(first, id + 2, wait(name));
    expect(await answerOf(first, id + 2)).toMatchObject({ error: { code: 'limit' } });
  }
  expect(await (await overHttp(2, wait('TaskClaim'))).text()).toContain('limit: 3 calls already wait');
  expect(await frames.ask({ type: 'message.inbox', payload: { teamId, wait: 60_000 } })).toMatchObject({
    error: { code: 'limit' },
  });
  const others = await openLines(stage, other);
  callTool(others, 1, { name: 'TaskClaim', arguments: { wait_seconds: 0.01 } });
  expect(await answerOf(others, 1)).toEqual({ task: null });

  // A call makes room when it is cancelled, answered, or its connection is closed.
  second.close();
  first.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await stage.act('message.send', { teamId, toId: 'worker', content: 'Hello' }, 'lead');
  expect(await third.text()).toContain('Hello');
  const claims = (): Promise<Frame[]> =>
    Promise.all([1, 2, 3].map(() => frames.ask({ type: 'task.claim', payload: { teamId, wait: 1 } })));
  await expect.poll(async () => (await claims()).map(({ type }) => type)).toEqual(['result', 'result', 'result']);
  expect(stage.errors).toEqual([]);
});
