import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mcpFace } from '../../src/mcp/face.ts';
import type { McpFace } from '../../src/mcp/face.ts';
import { LIMITS } from '../../src/server/limits.ts';
import { openWaitingRoom } from '../mcp/waiting-room.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket } from './wire.ts';

const teamId = 'demo';

/** No call times out, however slow the machine is. */
const PATIENT = { restWaitMs: 250_000 };

/** Ways to end the credential of `worker`. Later messages and tasks must not reach it. */
const ENDS: [string, (stage: Stage) => Promise<unknown>][] = [
  ['all credentials are made void', ({ act }) => act('token.rotate', {})],
  [
    'another one joins under its name',
    async ({ act }) => {
      await act('member.remove', { teamId, memberId: 'worker' });
      await act('member.add', { teamId, name: 'worker' });
    },
  ],
  ['its member is removed', ({ act }) => act('member.remove', { teamId, memberId: 'worker' })],
];

describe.each(ENDS)('when %s', (_, end) => {
  test.each([
    ['mail', 'GET', 'inbox?unread=true&wait=250000', undefined],
    ['work', 'POST', 'claim', { wait: 250_000 }],
  ] as const)('a request that waits for %s is refused at once, and gets none', async (_what, method, path, body) => {
    const stage = await setStage({ limits: PATIENT });
    const room = openWaitingRoom(stage.ledger);
    const waiting = ask(stage, method, path, { token: stage.tokens.worker, body });
    await room.has(1);
    await end(stage);
    const { status, text } = await waiting;
    expect(status).toBe(401);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'unauthenticated' } });
    await expectNothingTaken(stage);
  });

  test.each([
    ['Inbox', 'mail'],
    ['TaskClaim', 'work'],
  ])('%s of MCP that waits for %s is refused at once, and gets none', async (name) => {
    const stage = await setMcpStage();
    const client = await connect(stage, stage.tokens.worker);
    const room = openWaitingRoom(stage.ledger);
    const waiting = client.callTool({ name, arguments: { wait_seconds: 50 } });
    await room.has(name === 'Inbox' ? 1 : 2);
    await end(stage);
    const { isError, structuredContent } = await waiting;
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({ error: { code: 'unauthenticated' } });
    await expectNothingTaken(stage);
  });
});

test('the caller of token.rotate still gets its answer', async () => {
  const stage = await setStage();
  const answer = await fetch(`${stage.url}/api/tokens/rotate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.token}` },
  });
  expect(answer.status).toBe(200);
});

test('logging out ends the waiting calls of the session', async () => {
  const stage = await setStage({ limits: PATIENT });
  const login = stage.hub.credentials.logins;
  const session = login.login(login.code()) as string;
  const headers = { cookie: `troupe_session_${stage.port}=${session}`, origin: stage.url };
  const room = openWaitingRoom(stage.ledger);
  const waiting = fetch(`${stage.url}/api/teams/${teamId}/inbox?memberId=worker&unread=true&wait=250000`, { headers });
  await room.has(1);
  const out = { ...headers, 'x-troupe-csrf': '1' };
  expect((await fetch(`${stage.url}/api/logout`, { method: 'POST', headers: out })).status).toBe(200);
  expect((await waiting).status).toBe(401);
});

test("a former lead no longer waits with a lead's rights, and may call as a member", async () => {
  const stage = await setStage({ limits: PATIENT });
  const room = openWaitingRoom(stage.ledger);
  const waiting = ask(stage, 'GET', 'inbox?memberId=other&unread=true&wait=250000', { token: stage.tokens.lead });
  await room.has(1);
  await stage.act('team.update', { teamId, leadId: 'worker' });
  expect((await waiting).status).toBe(409);
  expect((await ask(stage, 'GET', 'inbox?memberId=other', { token: stage.tokens.lead })).status).toBe(403);
  expect((await ask(stage, 'GET', 'inbox', { token: stage.tokens.lead })).status).toBe(200);
});

test('requests leave no state behind', async () => {
  const stage = await setStage({ limits: PATIENT });
  const gone = new AbortController();
  const room = openWaitingRoom(stage.ledger);
  const waiting = ask(stage, 'POST', 'claim', {
    token: stage.tokens.worker,
    body: { wait: 250_000 },
    signal: gone.signal,
  });
  await room.has(1);
  gone.abort();
  await expect(waiting).rejects.toThrow();
  expect((await ask(stage, 'GET', 'status', { token: stage.tokens.worker })).status).toBe(200);
  await expect.poll(() => stage.hub.visits).toBe(0);
  await stage.act('task.create', { teamId, title: 'New' });
  expect(await stage.act('task.show', { teamId, taskId: '1' })).toMatchObject({ status: 'pending' });
});

test('connections of a member that Troupe ran end when it has stopped', async () => {
  const stage = await setStage();
  const agent = { kind: 'exec' as const, command: ['true'] };
  await stage.act('member.spawn', { teamId, name: 'runner', agent });
  const { token } = await stage.act('member.token', { teamId, memberId: 'runner' });
  const open = await Promise.all([
    openUnix(stage.home.socket, token),
    openWebSocket(stage.url, { authorization: `Bearer ${token}` }),
  ]);
  await stage.act('member.stop', { teamId, memberId: 'runner' });
  for (const wire of open) await wire.closed;
});

test('a process that Troupe ends may still send for a limited time', async () => {
  const stage = await setStage();
  // Only the clock that measures this time stands still. Processes and connections go on.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const agent = { kind: 'exec' as const, command: ['true'] };
  await stage.act('member.spawn', { teamId, name: 'runner', agent });
  const { token } = await stage.act('member.token', { teamId, memberId: 'runner' });
  const wire = await openUnix(stage.home.socket, token);
  // The process does not end.
  stage.hub.services.sessions.hasProcess = () => true;
  await stage.act('member.stop', { teamId, memberId: 'runner' });
  expect(await wire.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  vi.advanceTimersByTime(LIMITS.lastWordsMs);
  await wire.closed;
});

/** Checks that a call which waited and was refused takes nothing that comes later. */
async function expectNothingTaken({ act }: Stage): Promise<void> {
  await act('task.create', { teamId, title: 'New' });
  expect(await act('task.show', { teamId, taskId: '1' })).toMatchObject({ status: 'pending' });
}

interface Asked {
  readonly token: string;
  readonly body?: object | undefined;
  readonly signal?: AbortSignal;
}

async function ask(
  { url }: Stage,
  method: string,
  path: string,
  { token, body, signal }: Asked,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/api/teams/${teamId}/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  return { status: answer.status, text: await answer.text() };
}

async function setMcpStage(): Promise<Stage> {
  const stage = await setStage({ mcp: (request, visiting) => face.http(request, visiting) });
  const face: McpFace = mcpFace(stage.hub.services);
  onTestFinished(() => face.close());
  return stage;
}

async function connect({ url }: Stage, token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}
