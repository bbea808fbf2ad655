import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Client } from '../../src/client/client.ts';
import { nodeWebSocketConnect } from '../../src/client/node-websocket.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { webSocketConnect } from '../../src/client/websocket.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { rounds } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { Server } from './house.ts';
import { startServer } from './start.ts';

test('gives up on a daemon that ends every connection before it answers, and retries with a back-off', async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let connections = 0;
  const client = new Client(
    ({ closed }) => {
      connections++;
      setTimeout(() => closed('no'), 1);
      return Promise.resolve({ send: () => {}, close: () => {} });
    },
    { patience: 300 },
  );
  const refused = expect(client.call('team.list', {})).rejects.toMatchObject({ code: 'no_daemon' });
  for (let ms = 0; ms < 1_000; ms++) await vi.advanceTimersByTimeAsync(1);
  await refused;
  expect(connections).toBeGreaterThan(1);
  // The back-off starts at 20 ms, doubles, and is at least half of that because of the jitter.
  expect(connections).toBeLessThan(8);
  client.close();
});

test('over the socket, a token that was replaced after it was read is read again', async () => {
  const server = await startServer();
  const path = join(temporaryFolder(), 'token');
  writeFileSync(path, 'replaced');
  // The refusal comes after the file was read, so it is replaced in between.
  const { credentials } = server.hub;
  const verify = credentials.verify.bind(credentials);
  onTestFinished(() => void Object.assign(credentials, { verify }));
  Object.assign(credentials, {
    verify: async (token: string) => {
      writeFileSync(path, server.token);
      return verify(token);
    },
  });
  const client = new Client(socketConnect({ path: server.home.socket, token: { file: path } }));
  onTestFinished(() => client.close());
  expect(await client.call('team.list', {})).toEqual([]);
});

describe.each(['unix', 'ws', 'browser ws'] as const)('the client over %s', (kind) => {
  /** Finds the server each time: after a restart it has another token and another port. */
  function connect(server: () => Server): Client {
    const client = new Client((handlers) => {
      const { home, url, token } = server();
      if (kind === 'unix') return socketConnect({ path: home.socket, token: { file: home.tokenFile } })(handlers);
      const webSocket = kind === 'ws' ? nodeWebSocketConnect : webSocketConnect;
      return webSocket({ url: `${url.replace('http', 'ws')}/ws`, token })(handlers);
    });
    onTestFinished(() => client.close());
    return client;
  }

  test('calls operations and follows a team', async () => {
    const server = await startServer();
    const client = connect(() => server);
    expect(await client.call('team.create', { name: 'demo' })).toMatchObject({ id: 'demo' });
    const seen: number[] = [];
    const following = (async () => {
      for await (const { seq } of client.subscribe('demo')) if (seen.push(seq) === 4) break;
    })();
    for (const title of ['a', 'b', 'c']) await client.call('task.create', { teamId: 'demo', title });
    await following;
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(server.errors).toEqual([]);
  });

  test('gets the reason of a refusal', async () => {
    const server = await startServer();
    const client = connect(() => server);
    await expect(client.call('team.show', { teamId: 'absent' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(client.subscribe('absent').next()).rejects.toMatchObject({ code: 'not_found' });
  });

  // A page cannot read a refusal of a WebSocket upgrade.
  if (kind !== 'browser ws') {
    test('learns at once that its token is invalid', async () => {
      const server = await startServer();
      const client = connect(() => ({ ...server, token: 'wrong', home: { ...server.home, tokenFile: wrongToken() } }));
      await expect(client.call('team.list', {})).rejects.toMatchObject({ code: 'unauthenticated' });
    });
  }

  test('refuses a call that is too long, and other calls still work', async () => {
    const server = await startServer();
    const client = connect(() => server);
    await client.call('team.create', { name: 'demo' });
    const long = client.call('task.create', { teamId: 'demo', title: 'Long', description: 'é'.repeat(600_000) });
    const short = client.call('task.create', { teamId: 'demo', title: 'Short' });
    await expect(long).rejects.toMatchObject({
      code: 'limit',
      message: expect.stringMatching(/^A call has at most 1048576 bytes, and this one has 1200\d\d\d$/),
    });
    expect(await short).toMatchObject({ id: '1' });
    // There is no connection yet: calls wait and are sent when it is open.
    const late = connect(() => server);
    await expect(late.call('team.create', { name: 'x'.repeat(2_000_000) })).rejects.toMatchObject({ code: 'limit' });
    expect(await late.call('task.list', { teamId: 'demo' })).toMatchObject([{ title: 'Short' }]);
  });

  test('cancels calls that it no longer waits for', async () => {
    const server = await startServer();
    const client = connect(() => server);
    await client.call('team.create', { name: 'demo' });
    const stop = new AbortController();
    const claim = client.call('task.claim', { teamId: 'demo', wait: 60_000 }, { as: 'lead', signal: stop.signal });
    await client.call('team.list', {});
    stop.abort();
    await expect(claim).rejects.toThrow('abort');
    await client.call('task.create', { teamId: 'demo', title: 'Free' });
    expect(await client.call('task.list', { teamId: 'demo' })).toMatchObject([{ status: 'pending' }]);
  });

  test.each(['memory', 'sqlite'] as const)('works across restarts: every call is done once (%s)', async (store) => {
    const random = seededRandom();
    const directory = join(temporaryFolder(), 'home');
    const shared = memoryJournal();
    const open = () => (store === 'memory' ? shared : sqliteJournal(join(directory, 'journal.db')));
    let server = await startServer({ directory, journal: open() });
    const client = connect(() => server);
    const teamId = 'demo';
    await client.call('team.create', { name: teamId });
    const seen: number[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const { seq } of client.subscribe(teamId, { signal: stop.signal })) seen.push(seq);
    })();

    const calls: Promise<{ id: string; title: string }>[] = [];
    for (let round = 0; round < rounds(3, 6); round++) {
      for (let i = 0; i < 50; i++) calls.push(client.call('task.create', { teamId, title: `${round}.${i}` }));
      await calls.at(-Math.ceil(random() * 50));
      await server.stop();
      server = await startServer({ directory, journal: open() });
    }
    const created = await Promise.all(calls);
    const tasks = await client.call('task.list', { teamId });
    expect(tasks).toHaveLength(calls.length);
    expect(new Set(tasks.map(({ title }) => title)).size).toBe(calls.length);
    expect(new Set(created.map(({ id }) => id)).size).toBe(calls.length);
    const { seq } = await client.call('team.status', { teamId });
    await expect.poll(() => seen.at(-1)).toBe(seq);
    expect(seen).toEqual(Array.from({ length: seq }, (_, at) => at + 1));
    stop.abort();
    await following;
  });
});

function wrongToken(): string {
  const file = join(temporaryFolder(), 'token');
  writeFileSync(file, 'wrong');
  return file;
}
