import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mcpHttp } from '../../src/mcp/http.ts';
import type { McpHttp } from '../../src/mcp/http.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import type { Caller } from '../../src/operations/caller.ts';
import { LEAD, member, openHouse, openTeam, refusal, toolNames, use } from './house.ts';
import type { House } from './house.ts';
import { postMcp } from './post.ts';

const CALLERS: Record<string, Caller> = {
  alice: member('alice'),
  'alice-again': member('alice'),
  bob: member('bob'),
  lead: LEAD,
  person: ADMIN,
};

const ERAS: [string, ClientOptions][] = [
  ['with a session', {}],
  ['of the newest protocol, without a session', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
];

describe.each(ERAS)('a client %s', (_era, options) => {
  test('sends a message, claims and completes', async () => {
    const house = await openTeam();
    const { connect } = await serve(house);
    const [alice, bob] = [await connect('alice', options), await connect('bob', options)];
    expect(await toolNames(alice)).toHaveLength(12);
    await use(alice, 'SendMessage', { to: 'bob', message: 'hello' });
    expect((await use(bob, 'Inbox')).data.messages).toMatchObject([{ from: 'alice', content: 'hello' }]);
    expect((await use(bob, 'Inbox')).data.messages).toEqual([]);
    await house.call('task.create', { teamId: 'demo', title: 'First' });
    await house.call('task.create', { teamId: 'demo', title: 'Second', dependencies: ['1'] });
    expect((await use(alice, 'TaskClaim')).data.task.id).toBe('1');
    expect(await refusal(bob, 'TaskClaim', { taskId: '1' })).toBe('claim_conflict');
    expect(await refusal(bob, 'TaskClaim', { taskId: '2' })).toBe('blocked');
    expect((await use(alice, 'TaskComplete', { taskId: '1', result: 'done' })).isError).toBe(false);
    expect((await use(bob, 'TaskClaim')).data.task.id).toBe('2');
  });

  test('waits, gets progress, and gets the result', async () => {
    const house = await openTeam();
    const { connect } = await serve(house);
    const alice = await connect('alice', options);
    const told: unknown[] = [];
    const waiting = use(alice, 'Inbox', { wait_seconds: 20 }, { onprogress: (progress) => void told.push(progress) });
    await expect.poll(() => told).toMatchObject([{ message: 'waiting for mail' }]);
    await house.call('message.send', { teamId: 'demo', toId: 'alice', content: 'hi' }, 'bob');
    expect((await waiting).data.messages).toMatchObject([{ content: 'hi' }]);
  });

  test('cancels a waiting call', async () => {
    const house = await openTeam();
    const { connect } = await serve(house);
    const alice = await connect('alice', options);
    const listeners = countListeners(house);
    const controller = new AbortController();
    const waiting = use(alice, 'TaskClaim', { wait_seconds: 60 }, { signal: controller.signal });
    await expect.poll(listeners).toBeGreaterThan(0);
    controller.abort();
    await expect(waiting).rejects.toThrow();
    await expect.poll(listeners).toBe(0);
    await house.call('task.create', { teamId: 'demo', title: 'First' });
    expect((await use(await connect('bob', options), 'TaskClaim')).data.task.id).toBe('1');
  });

  test('ends its waiting calls when it disconnects', async () => {
    const house = await openTeam();
    const { connect } = await serve(house);
    const alice = await connect('alice', options);
    const listeners = countListeners(house);
    const waiting = use(alice, 'Inbox', { wait_seconds: 60 });
    await expect.poll(listeners).toBeGreaterThan(0);
    await alice.close();
    await expect(waiting).rejects.toThrow();
    await expect.poll(listeners).toBe(0);
  });
});

test('binds a session to the credential that started it', async () => {
  const house = await openTeam();
  const { connect, post } = await serve(house);
  const alice = await connect('alice');
  const { sessionId = '' } = alice.transport as StreamableHTTPClientTransport;
  expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
  const call = { method: 'tools/call', params: { name: 'TaskCreate', arguments: { subject: 'S', description: '' } } };
  for (const token of ['bob', 'lead', 'person', 'alice-again']) {
    const response = await post(token, call, { 'mcp-session-id': sessionId });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: -32001 } });
  }
  expect(await house.call('task.list', { teamId: 'demo' })).toEqual([]);
  expect((await post('alice', call, { 'mcp-session-id': sessionId })).status).toBe(200);
  expect(await house.call('task.list', { teamId: 'demo' })).toHaveLength(1);
});

test.each([
  ['under its session', true],
  ['of the newest protocol, without a session', false],
])('shows messages again, once and marked, to a client that restarted %s', async (_how, hasSession) => {
  const house = await openTeam();
  const { post } = await serve(house);
  const begun = await post('bob', INITIALIZE);
  const headers = hasSession ? { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' } : undefined;
  await begun.text();
  const inbox = async (id: number): Promise<string> => {
    const call = { id, method: 'tools/call', params: { name: 'Inbox', arguments: {} } };
    return (await post('bob', call, headers)).text();
  };
  await house.call('message.send', { teamId: 'demo', toId: 'bob', content: 'hi' }, 'alice');
  expect(await inbox(7)).toContain('hi');
  // Its request ids start again, so the answer to 7 may not have been read.
  expect(await inbox(2)).toContain('"redelivery":true');
  expect(await inbox(2)).toContain('"messages":[]');
});

test('one session cannot cancel the calls of another', async () => {
  const house = await openTeam();
  const { connect, post } = await serve(house);
  const alice = await connect('alice');
  const { sessionId = '' } = alice.transport as StreamableHTTPClientTransport;
  const waiting = use(alice, 'Inbox', { wait_seconds: 20 });
  const cancel = { method: 'notifications/cancelled', params: { requestId: 1 }, id: undefined };
  expect((await post('bob', cancel, { 'mcp-session-id': sessionId })).status).toBe(404);
  expect((await post('bob', cancel)).status).toBe(202);
  expect((await post('alice', cancel)).status).toBe(202);
  await house.call('message.send', { teamId: 'demo', toId: 'alice', content: 'hi' }, 'bob');
  expect((await waiting).data.messages).toHaveLength(1);
});

test('resumes a session that it has forgotten, and no other', async () => {
  const house = await openTeam();
  const { connect, post, mcp } = await serve(house, { idle: 30 });
  const alice = await connect('alice');
  await expect.poll(() => mcp.sessions).toBe(0);
  // A client that was idle for long, or that began with an earlier daemon, goes on without an error.
  expect((await use(alice, 'TaskList')).isError).toBe(false);
  const call = { method: 'tools/list', params: {} };
  expect((await post('alice', call, { 'mcp-session-id': 'made-up' })).status).toBe(404);
});

test('does not forget an active session', async () => {
  const house = await openTeam();
  let now = 0;
  const { connect, mcp } = await serve(house, { idle: 50, now: () => now });
  const [alice] = [await connect('alice'), await connect('bob')];
  const listeners = countListeners(house);
  const waiting = use(alice, 'Inbox', { wait_seconds: 60 }).catch(String);
  await expect.poll(listeners).toBe(1);
  expect(mcp.sessions).toBe(2);
  now = 1_000;
  // The other session, which is idle, is forgotten.
  await expect.poll(() => mcp.sessions).toBe(1);
  await house.call('message.send', { teamId: 'demo', toId: 'alice', content: 'hi' }, 'bob');
  expect(await waiting).toMatchObject({ data: { messages: [{ content: 'hi' }] } });
  now = 2_000;
  // The client may be idle for long after an answer: only its next call shows that it got the answer.
  await use(await connect('bob'), 'TaskList');
  expect(mcp.sessions).toBe(2);
  expect((await use(alice, 'Inbox')).data.messages).toEqual([]);
  now = 3_000;
  await expect.poll(() => mcp.sessions).toBe(0);
});

test('ends a session and its waiting calls when the client ends it', async () => {
  const house = await openTeam();
  const { connect, post } = await serve(house);
  const alice = await connect('alice');
  const transport = alice.transport as StreamableHTTPClientTransport;
  const { sessionId = '' } = transport;
  const listeners = countListeners(house);
  const waiting = use(alice, 'Inbox', { wait_seconds: 60 }).catch(String);
  await expect.poll(listeners).toBe(1);
  await transport.terminateSession();
  await expect.poll(listeners).toBe(0);
  expect((await post('alice', { method: 'tools/list', params: {} }, { 'mcp-session-id': sessionId })).status).toBe(404);
  await alice.close();
  await waiting;
});

test('keeps a limited number of sessions: the least recently used goes, unless all are active', async () => {
  const house = await openTeam();
  const { connect, mcp, post } = await serve(house, { most: 3 });
  const clients = [];
  for (let i = 0; i < 5; i++) clients.push(await connect('alice'));
  expect(mcp.sessions).toBe(3);
  for (const client of clients) expect((await use(client, 'TaskList')).isError).toBe(false);
  expect(mcp.sessions).toBe(3);
  const waiting = clients.slice(0, 3).map((client) => use(client, 'Inbox', { wait_seconds: 20 }).catch(String));
  const listeners = countListeners(house);
  await expect.poll(listeners).toBe(3);
  expect((await post('bob', INITIALIZE)).status).toBe(503);
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(waiting);
  await expect.poll(async () => (await post('bob', INITIALIZE)).status).toBe(200);
});

test('forgets no session of another member when one opens many', async () => {
  const house = await openTeam();
  const { connect, mcp } = await serve(house, { most: 4 });
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  const before = await connect('alice');
  await use(before, 'TaskClaim');
  for (let i = 0; i < 6; i++) await connect('bob');
  expect(mcp.sessions).toBe(4);
  await house.call('task.release', { teamId: 'demo', taskId: '1' });
  await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'alice');
  expect(await refusal(before, 'TaskComplete', { taskId: '1', result: 'late' })).toBe('stale_epoch');
});

test.each(ERAS)('a client %s cannot write without an epoch after its session was forgotten', async (_era, options) => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  const { connect: open } = await serve(house);
  const { url, connect } = await serve(house);
  const before = await connect('alice', options);
  await use(before, 'TaskClaim');
  await house.call('task.release', { teamId: 'demo', taskId: '1' });
  const after = await open('alice', options);
  const { text } = await use(after, 'TaskClaim');
  const { sessionId } = before.transport as StreamableHTTPClientTransport;
  // A daemon that knows neither session. It gets the first client's calls, under that session.
  const { url: other } = await serve(house);
  expect(other).not.toBe(url);
  const stale = new Client({ name: 'test', version: '1' }, options);
  const requestInit = { headers: { authorization: 'Bearer alice' } };
  const resumed = sessionId === undefined ? {} : { sessionId };
  await stale.connect(new StreamableHTTPClientTransport(new URL(other), { requestInit, ...resumed }));
  onTestFinished(() => stale.close());
  expect(await refusal(stale, 'TaskComplete', { taskId: '1', result: 'late' })).toBe('stale_epoch');
  // Clients without a session cannot be told apart: the answer says which epoch to give.
  expect(text.includes('TaskComplete with taskId "1", epoch 3 and the result')).toBe(sessionId === undefined);
  const epoch = sessionId === undefined ? { epoch: 3 } : {};
  expect((await use(after, 'TaskComplete', { taskId: '1', ...epoch })).isError).toBe(false);
});

test('keeps a claim across a forgotten session, without an epoch', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'bob');
  await house.call('task.release', { teamId: 'demo', taskId: '1' });
  const { connect, mcp } = await serve(house, { most: 1 });
  const alice = await connect('alice');
  await use(alice, 'TaskClaim');
  await connect('bob');
  expect(mcp.sessions).toBe(1);
  expect((await use(alice, 'TaskComplete', { taskId: '1' })).isError).toBe(false);
});

test('a member with too many sessions loses its own, not those of others; a person always gets one', async () => {
  const house = await openTeam();
  const { connect, mcp, post } = await serve(house, { most: 4, mostOfOne: 2 });
  const [bob, lead] = [await connect('bob'), await connect('lead')];
  const alices = [await connect('alice'), await connect('alice'), await connect('alice')];
  expect(mcp.sessions).toBe(4);
  const listeners = countListeners(house);
  const wait = (client: Client) => use(client, 'Inbox', { wait_seconds: 20 }).catch(String);
  const waiting = alices.slice(1).map(wait);
  await expect.poll(listeners).toBe(2);
  expect((await post('alice', INITIALIZE)).status).toBe(503);
  expect((await post('bob', INITIALIZE)).status).toBe(200);
  expect(mcp.sessions).toBe(4);
  waiting.push(wait(bob), wait(lead));
  await expect.poll(listeners).toBe(4);
  expect((await post('person', INITIALIZE)).status).toBe(200);
  await Promise.all([bob, lead, ...alices].map((client) => client.close()));
  await Promise.all(waiting);
});

test('a session that its client ended takes no place, and cannot be resumed', async () => {
  const house = await openTeam();
  const { url, connect, mcp, post } = await serve(house, { mostOfOne: 2 });
  const alice = await connect('alice');
  await house.call('message.send', { teamId: 'demo', toId: 'alice', content: 'hi' }, 'bob');
  expect((await use(alice, 'Inbox')).data.messages).toHaveLength(1);
  const ended: string[] = [];
  for (let i = 0; i < 5; i++) {
    const begun = await post('alice', INITIALIZE);
    await begun.text();
    const id = begun.headers.get('mcp-session-id') ?? '';
    const end = (): Promise<Response> =>
      fetch(url, { method: 'DELETE', headers: { authorization: 'Bearer alice', 'mcp-session-id': id } });
    expect((await end()).status).toBe(200);
    expect((await end()).status).toBe(404);
    ended.push(id);
  }
  expect(mcp.sessions).toBe(1);
  // Its messages are not shown again: the session was not dropped.
  expect((await use(alice, 'Inbox')).data.messages).toEqual([]);
  for (const id of ended) {
    expect((await post('alice', { method: 'tools/list' }, { 'mcp-session-id': id })).status).toBe(404);
  }
});

test('offers the tools if the credential or a header asks for them', async () => {
  const house = await openTeam();
  const { connect } = await serve(house);
  const unasked = await connect('person');
  expect(await toolNames(unasked)).toEqual([]);
  expect(unasked.getInstructions()).toContain('x-troupe-teams: 1');
  // Requests over HTTP are served one by one: nobody could be told of a change.
  expect(unasked.getServerCapabilities()).toEqual({ tools: {} });
  expect(await toolNames(await connect('alice', {}, { 'x-troupe-teams': '0' }))).toEqual([]);
  const headers = { 'x-troupe-teams': '1', 'x-troupe-team': 'demo', 'x-troupe-as': 'bob' };
  const person = await connect('person', {}, headers);
  expect((await use(person, 'TeamStatus')).data.you).toBe('bob');
  await expect(connect('alice', {}, { 'x-troupe-as': 'bob' })).rejects.toThrow('acts for alice');
  await expect(connect('person', {}, { 'x-troupe-team': 'NOT A NAME' })).rejects.toThrow('team: ');
  const { connect: open } = await serve(house, { teams: true });
  expect(await toolNames(await open('person'))).toHaveLength(TOOLS.filter(({ reviews }) => !reviews).length);
});

test('remembers the team that a client made, for that client only', async () => {
  const house = openHouse();
  const { connect } = await serve(house, { teams: true });
  const [one, other] = [await connect('person'), await connect('person')];
  await use(one, 'TeamCreate', { team_name: 'one' });
  expect((await use(one, 'TeamStatus')).data.team_name).toBe('one');
  expect(await refusal(other, 'TeamStatus')).toBe('invalid');
  const modern = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
  const [third, fourth] = [await connect('person', modern), await connect('person', modern)];
  await use(third, 'TeamCreate', { team_name: 'third' });
  expect(await refusal(fourth, 'TeamStatus')).toBe('invalid');
  expect((await use(third, 'TeamStatus', { team_name: 'third' })).data.team_name).toBe('third');
});

test('refuses requests that are not MCP', async () => {
  const { url, post } = await serve(await openTeam());
  const authorization = 'Bearer alice';
  const statuses = async (init: RequestInit): Promise<number> => (await fetch(url, init)).status;
  expect(await statuses({ headers: { authorization, accept: 'text/event-stream' } })).toBe(405);
  expect(await statuses({ method: 'PUT', headers: { authorization } })).toBe(405);
  expect(await statuses({ method: 'POST', headers: { authorization }, body: '{}' })).toBe(415);
  const json = { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  for (const body of ['', '{', '[', 'null', '[]', '7', '"x"', '{"jsonrpc":"1.0"}', '{"method":7}', '[null]']) {
    expect(await statuses({ method: 'POST', headers: json, body }), body).toBe(400);
  }
  expect(await statuses({ method: 'POST', headers: json, body: ' '.repeat(1024 * 1024 + 1) })).toBe(413);
  expect(await statuses({ method: 'DELETE', headers: { authorization } })).toBe(404);
  expect(await (await post('alice', { method: 'nothing/here', params: {} })).text()).toContain('-32601');
});

const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

interface Served {
  readonly url: string;
  readonly mcp: McpHttp;
  readonly connect: (token: string, options?: ClientOptions, headers?: Record<string, string>) => Promise<Client>;
  readonly post: (token: string, message: object, headers?: Record<string, string>) => Promise<Response>;
}

/** A real server on a real port, with tokens that are names. */
async function serve(house: House, options: Parameters<typeof mcpHttp>[1] = {}): Promise<Served> {
  const mcp = mcpHttp(house.services, options);
  const listener = getRequestListener(
    (request) => {
      const caller = CALLERS[request.headers.get('authorization')?.replace('Bearer ', '') ?? ''];
      return caller ? mcp.handle(request, { caller }) : new Response(null, { status: 401 });
    },
    { overrideGlobalObjects: false },
  );
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await mcp.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return {
    url,
    mcp,
    async connect(token, clientOptions, headers) {
      const client = new Client({ name: 'test', version: '1' }, clientOptions);
      const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      onTestFinished(() => client.close());
      return client;
    },
    post: (token, message, headers) => postMcp(url, token, { id: 1, ...message }, headers),
  };
}

/** The number of new listeners of the ledger: each call that waits is one. */
function countListeners({ services: { ledger } }: House): () => number {
  const subscribe = ledger.subscribe.bind(ledger);
  let count = 0;
  ledger.subscribe = (listener) => {
    const stop = subscribe(listener);
    count++;
    return () => {
      count--;
      stop();
    };
  };
  return () => count;
}
