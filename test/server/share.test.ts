import { createConnection } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { countReads, setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket, requestText, sendBytes } from './wire.ts';
import type { Wire } from './wire.ts';

const teamId = 'demo';
const LISTS = 12;

/** More history than fits into one answer, and than may wait for a client. */
async function makeHistory({ act }: Stage): Promise<void> {
  const long = { teamId, title: 'Long', description: 'x'.repeat(60_000) };
  for (let i = 0; i < 60; i++) await act('task.create', long);
}

describe.each(['unix', 'ws'] as const)('clients over %s', (kind) => {
  const connect = ({ home, url }: Stage, token: string): Promise<Wire> =>
    kind === 'unix' ? openUnix(home.socket, token) : openWebSocket(url, { authorization: `Bearer ${token}` });

  test('that ask for much and read nothing get few answers made; others get theirs, and they get the rest later', async () => {
    const stage = await setStage();
    await makeHistory(stage);
    const reads = countReads(stage);
    const asking = Array.from({ length: 4 }, () => connect(stage, stage.tokens.reader));
    const wires = await Promise.all(asking);
    for (const wire of wires) {
      wire.pause();
      for (let id = 1; id <= LISTS; id++) wire.send({ type: 'event.list', id, payload: { teamId } });
    }
    const other = await connect(stage, stage.tokens.other);
    for (let i = 0; i < 50; i++) await other.ask({ type: 'ping' });
    // The kernel has taken some of the first answers, and the next ones were made.
    expect(reads()).toBeLessThan((4 * LISTS) / 3);
    const before = reads();
    expect(await other.ask({ type: 'event.list', payload: { teamId, limit: 3 } })).toMatchObject({ type: 'result' });
    expect(reads()).toBeGreaterThan(before);

    for (const wire of wires) wire.resume();
    for (const wire of wires) {
      for (let id = 1; id <= LISTS; id++) {
        expect(await wire.take((frame) => frame.id === id)).toMatchObject({ type: 'result', more: true });
      }
    }
    expect(stage.errors).toEqual([]);
  });

  test('that disconnect cause no more reads, and free their places', async () => {
    const stage = await setStage();
    await makeHistory(stage);
    const reads = countReads(stage);
    for (let round = 0; round < 3; round++) {
      const wire = await connect(stage, stage.tokens.reader);
      wire.pause();
      for (let id = 1; id <= 100; id++) wire.send({ type: 'event.list', id, payload: { teamId } });
      await expect.poll(reads).toBeGreaterThan(round);
      wire.close();
      wire.resume();
      await expect.poll(() => stage.hub.connected.size).toBe(0);
    }
    expect(reads()).toBeLessThan(60);
    const wire = await connect(stage, stage.tokens.reader);
    expect(await wire.ask({ type: 'event.list', payload: { teamId } })).toMatchObject({ type: 'result' });
  });

  test("start a few calls per turn, over all their connections; a person's calls start all at once", async () => {
    const stage = await setStage({ limits: { callsPerTurn: 8 } });
    const flood = async (token: string): Promise<number> => {
      const wires = await Promise.all(Array.from({ length: 4 }, () => connect(stage, token)));
      const begun = stage.hub.counters.calls;
      const payload = { teamId, memberId: 'worker' };
      for (const wire of wires) {
        for (let id = 1; id <= 300; id++) wire.send({ type: 'member.show', id, payload });
      }
      let most = 0;
      for (let last = begun; last < begun + 1_200;) {
        await nextTurn();
        most = Math.max(most, stage.hub.counters.calls - last);
        last = stage.hub.counters.calls;
      }
      for (const wire of wires) await wire.take(({ id }) => id === 300);
      return most;
    };
    expect(await flood(stage.tokens.worker)).toBeLessThanOrEqual(16);
    expect(await flood(stage.token)).toBeGreaterThan(100);
  });

  test('have a limited number of waiting calls per credential', async () => {
    const stage = await setStage({ limits: { waitingCalls: 2 } });
    const [one, other, third] = await Promise.all([1, 2, 3].map(() => connect(stage, stage.tokens.worker)));
    const wait = { type: 'message.inbox', payload: { teamId, wait: 60_000 } };
    one?.send({ ...wait, id: 1 });
    await one?.ask({ type: 'ping' });
    other?.send({ ...wait, id: 1 });
    await other?.ask({ type: 'ping' });
    expect(await third?.ask(wait)).toMatchObject({ error: { code: 'limit' } });
    one?.close();
    await expect.poll(() => stage.hub.connected.size).toBe(2);
    third?.send({ ...wait, id: 'later' });
    await third?.ask({ type: 'ping' });
    await stage.act('message.send', { teamId, toId: 'worker', content: 'Hello' });
    expect(await third?.take(({ id }) => id === 'later')).toMatchObject({ result: [{ content: 'Hello' }] });
    expect(await other?.take(({ id }) => id === 1)).toMatchObject({ result: [{ content: 'Hello' }] });
  });
});

describe.each(['unix', 'ws', 'http'] as const)('a call over %s that waited', (kind) => {
  test('has its answer made when others of its credential were read', async () => {
    const stage = await setStage();
    await makeHistory(stage);
    await stage.act('message.send', { teamId, toId: 'worker', content: 'Hello' }, 'lead');
    const { home, url } = stage;
    const { reader: token } = stage.tokens;
    const reads = countReads(stage);
    const slow = await openUnix(home.socket, token);
    slow.pause();
    for (let id = 1; id <= LISTS; id++) slow.send({ type: 'event.list', id, payload: { teamId } });
    let seen = 0;
    await expect.poll(() => seen === (seen = reads()) && seen > 0, { interval: 100 }).toBe(true);

    let isAnswered = false;
    const inbox = ask().finally(() => (isAnswered = true));
    const other = await openUnix(home.socket, stage.tokens.other);
    const quick = { type: 'message.inbox', payload: { teamId, wait: 1 } };
    for (let i = 0; i < 20; i++) expect(await other.ask(quick)).toMatchObject({ type: 'result' });
    expect(isAnswered).toBe(false);
    slow.resume();
    expect(await inbox).toMatchObject([{ content: 'Hello' }]);
    expect(stage.errors).toEqual([]);

    async function ask(): Promise<unknown> {
      const headers = { authorization: `Bearer ${token}` };
      if (kind === 'http') return (await fetch(`${url}/api/teams/demo/inbox?wait=60000`, { headers })).json();
      const wire = await (kind === 'unix' ? openUnix(home.socket, token) : openWebSocket(url, headers));
      const { result } = await wire.ask({ type: 'message.inbox', payload: { teamId, wait: 60_000 } });
      return result;
    }
  });
});

test('a member has a limited number of connections to the Unix socket, and members never have all', async () => {
  const stage = await setStage({ limits: { connections: 8, connectionsPerToken: 4 } });
  const { home, tokens, token } = stage;
  const [first] = await Promise.all(Array.from({ length: 4 }, () => openUnix(home.socket, tokens.worker)));
  const fifth = await openUnix(home.socket, tokens.worker);
  expect(fifth.frames).toMatchObject([{ type: 'error', error: { code: 'limit' } }]);
  for (let i = 0; i < 3; i++) expect((await openUnix(home.socket, tokens.other)).frames[0]?.type).toBe('welcome');
  // The eighth place is reserved for people.
  expect((await openUnix(home.socket, tokens.lead)).frames[0]?.type).toBe('error');
  expect((await openUnix(home.socket, token)).frames[0]?.type).toBe('welcome');
  first?.close();
  await expect.poll(async () => (await openUnix(home.socket, tokens.worker)).frames[0]?.type).toBe('welcome');
});

test('only WebSockets and event streams of a person are counted, together', async () => {
  const stage = await setStage({ limits: { connectionsPerToken: 2 } });
  const headers = { authorization: `Bearer ${stage.token}` };
  const follow = (): Promise<Response> => fetch(`${stage.url}/api/teams/demo/events`, { headers });
  for (let i = 0; i < 3; i++) expect((await openUnix(stage.home.socket, stage.token)).frames[0]?.type).toBe('welcome');
  const page = await openWebSocket(stage.url, headers);
  const stream = await follow();
  expect(stream.status).toBe(200);
  const refused = await follow();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { code: 'limit' } });
  await expect(openWebSocket(stage.url, headers)).rejects.toThrow('429');
  for (let i = 0; i < 3; i++) expect((await fetch(`${stage.url}/api/teams`, { headers })).status).toBe(200);
  page.close();
  await page.closed;
  const isOpen = (): Promise<boolean> =>
    openWebSocket(stage.url, headers).then(
      () => true,
      () => false,
    );
  await expect.poll(isOpen).toBe(true);
  await stream.body?.cancel();
  await expect.poll(isOpen).toBe(true);
});

test('silent connections on the Unix socket are closed to make room for clients', async () => {
  const { home, token, hub } = await setStage({ limits: { connections: 4 } });
  const silent = Array.from({ length: 12 }, () => createConnection(home.socket).on('error', () => {}));
  onTestFinished(() => silent.forEach((socket) => void socket.destroy()));
  await expect.poll(() => hub.connections).toBeGreaterThanOrEqual(4);
  for (let i = 0; i < 4; i++) expect((await openUnix(home.socket, token)).frames[0]?.type).toBe('welcome');
  const late = await openUnix(home.socket);
  await late.closed;
  expect(late.frames).toMatchObject([{ type: 'error', error: { code: 'limit' } }]);
});

test('waiting requests of a member leave places for others, and some for people only', async () => {
  const stage = await setStage({ limits: { connections: 8, connectionsPerToken: 4 } });
  const ask = (token: string, path: string) =>
    sendBytes(
      stage.port,
      requestText('GET', path, [
        ['host', `127.0.0.1:${stage.port}`],
        ['authorization', `Bearer ${token}`],
      ]),
    );
  const inbox = '/api/teams/demo/inbox?wait=20000';
  const { worker, other, lead } = stage.tokens;
  const waiting = [worker, worker, worker, worker, other, other, other].map((token) => ask(token, inbox));
  await expect.poll(() => stage.hub.counters.calls).toBe(7 + CALLS_OF_STAGE);
  expect(await ask(worker, '/api/teams/demo')).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  expect(await ask(lead, '/api/teams/demo')).toMatchObject({ status: 503 });
  expect(await ask(stage.token, '/api/teams/demo')).toMatchObject({ status: 200 });
  const person = await openWebSocket(stage.url, { authorization: `Bearer ${stage.token}` });
  expect(await person.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  person.close();
  for (const toId of ['worker', 'other']) await stage.act('message.send', { teamId, toId, content: 'Go' });
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ status: 200 });
  await expect.poll(async () => (await ask(worker, '/api/teams/demo'))?.status).toBe(200);
});

/** The calls that setting the stage takes. */
const CALLS_OF_STAGE = 10;
