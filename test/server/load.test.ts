import { fork } from 'node:child_process';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { Client } from '../../src/client/client.ts';
import { socketConnect } from '../../src/client/socket.ts';
import type { Limits } from '../../src/server/limits.ts';
import { rounds, tell } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const MIB = 1024 * 1024;

/** The figures of a server in its own process. */
interface Health {
  readonly rss: number;
  readonly connections: number;
  readonly cut: number;
  readonly errors: number;
}

/** Starts a server in its own process, with an admin client. */
async function startProcess(limits: Partial<Limits> = {}) {
  const script = join(import.meta.dirname, 'process.ts');
  const home = join(temporaryFolder(), 'home');
  // V8's young generation alone grows by 45 MiB under any load. With a small one, the rest is what we hold.
  const execArgv = ['--expose-gc', '--max-semi-space-size=8'];
  const child = fork(script, [home, JSON.stringify(limits)], { execArgv });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await ended;
  });
  const hear = <T>(): Promise<T> => new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
  const { url, socket, token } = await hear<{ url: string; socket: string; token: string }>();
  const client = new Client(socketConnect({ path: socket, token }));
  onTestFinished(() => client.close());
  const ask = (what: 'memory' | 'counts'): Promise<Health> => {
    child.send(what);
    return hear<Health>();
  };
  const health = (): Promise<Health> => ask('counts');
  /** After a garbage collection, so that what is left is what the server holds. */
  const memory = async (): Promise<number> => (await ask('memory')).rss;
  return { url, port: Number(new URL(url).port), client, health, memory };
}

/** A team, and a credential for each of its members. */
async function makeTeam(client: Client, teamId: string, members: number): Promise<string[]> {
  await client.call('team.create', { name: teamId, maxTeammates: 32 });
  const tokens: string[] = [];
  for (let i = 0; i < members; i++) {
    const memberId = `worker-${i}`;
    await client.call('member.add', { teamId, name: memberId });
    tokens.push((await client.call('member.token', { teamId, memberId })).token);
  }
  return tokens;
}

/** A second credential for each member. */
async function makeReaders(client: Client, teamId: string, members: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let i = 0; i < members; i++) {
    tokens.push((await client.call('member.token', { teamId, memberId: `worker-${i}`, readOnly: true })).token);
  }
  return tokens;
}

/** Opens a WebSocket; resolves with it, or with the status of the refusal. */
function open(url: string, token: string): Promise<WebSocket | number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    onTestFinished(() => socket.terminate());
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0));
    socket.once('error', () => resolve(0));
  });
}

/** The number of connections, and how many of them never read. */
const MANY = rounds(50, 1_000);
const SLEEPERS = 10;
const CALLS = rounds(25, 50);

test(`${MANY} connections, ${SLEEPERS} of them never reading: little memory, and the others miss nothing`, async () => {
  const { url, client, health, memory } = await startProcess({
    // The default is 256, and further ones are refused (below). This test measures the cost of many connections.
    connections: 1_200,
    lingerMs: 1_000,
    requestBurst: 1e6,
  });
  const demo = await makeTeam(client, 'demo', 1);
  const more = [...(await makeTeam(client, 'more', 32)), ...(await makeReaders(client, 'more', 32))];
  // A fresh heap grows with the first garbage, whatever makes it.
  for (let i = 0; i < 100; i++) await Promise.all(Array.from({ length: 50 }, () => client.call('team.list', {})));
  const before = await memory();
  const sockets: WebSocket[] = [];
  for (let i = 0; i < MANY; i += 50) {
    const some = Array.from({ length: 50 }, (_, at) => {
      // At most 16 connections per credential.
      const token = i + at < SLEEPERS ? demo[0] : more[(i + at) % more.length];
      return open(url, token as string);
    });
    for (const socket of await Promise.all(some)) sockets.push(socket as WebSocket);
  }
  expect(sockets.filter((socket) => typeof socket === 'number')).toEqual([]);
  expect((await health()).connections).toBe(MANY + 1);

  // The first 10 follow a busy team and never read; the others follow a quiet team.
  let heard = 0;
  for (const [at, socket] of sockets.entries()) {
    const payload = { teamId: at < SLEEPERS ? 'demo' : 'more', only: 'events' };
    socket.send(JSON.stringify({ type: 'subscribe', payload }));
    if (at < SLEEPERS) socket.pause();
    else socket.on('message', (data: Buffer) => (heard += data.includes('"type":"events"') ? 1 : 0));
  }
  const { id: taskId } = await client.call('task.create', { teamId: 'demo', title: 'Talked about' });
  let peak = 0;
  const answerMs: number[] = [];
  // For each client that does not read 6 MB, in a proof 12: more than the 4 MB that may wait for it.
  for (let i = 0; i < 4 * CALLS; i++) {
    await client.call('task.update', { teamId: 'demo', taskId, description: `${i} ${'x'.repeat(60_000)}` });
    if (i % 4 > 0) continue;
    const askedAt = performance.now();
    await client.call('task.create', { teamId: 'more', title: `Task ${i}` });
    answerMs.push(Math.round(performance.now() - askedAt));
    if (i % 20 === 0) peak = Math.max(peak, await memory());
  }
  await expect.poll(() => heard).toBe((MANY - SLEEPERS) * (33 + CALLS));
  await expect.poll(async () => (await health()).cut).toBe(SLEEPERS);
  await expect.poll(async () => (await health()).connections).toBe(MANY - SLEEPERS + 1);
  const grown = Math.round((Math.max(peak, await memory()) - before) / MIB);
  expect((await health()).errors).toBe(0);
  expect(grown).toBeLessThan(64);
  tell({ connections: MANY, grownMb: [grown], answerMs });
});

test('connections above the limit are refused, and clients can still connect', async () => {
  const places = rounds(64, 256);
  const { url, port, client, health } = await startProcess({ connections: places });
  const tokens = await makeTeam(client, 'demo', 32);
  const outcomes: (WebSocket | number)[] = [];
  for (let i = 0; i < 4 * places; i += 64) {
    const some = Array.from({ length: 64 }, (_, at) => open(url, tokens[(i + at) % tokens.length] as string));
    outcomes.push(...(await Promise.all(some)));
  }
  const accepted = outcomes.filter((outcome) => typeof outcome !== 'number');
  expect(accepted.length).toBeLessThanOrEqual(places);
  // An eighth is reserved for people.
  expect(accepted.length).toBeGreaterThan(0.8 * places);
  expect(outcomes.filter((outcome) => outcome !== 503 && outcome !== 0 && typeof outcome === 'number')).toEqual([]);
  await expect.poll(async () => (await health()).connections).toBeLessThanOrEqual(places + 4);
  for (const socket of accepted.slice(0, 20)) socket.terminate();

  // Connections of silent strangers, far more than the limit. Not all at once, because the kernel's backlog is limited.
  const strangers: Socket[] = [];
  for (let i = 0; i < 12 * places; i += 64) {
    const some = Array.from({ length: 64 }, () => createConnection({ host: '127.0.0.1', port }));
    strangers.push(...some);
    for (const socket of some) onTestFinished(() => void socket.destroy());
    await Promise.all(
      some.map((socket) => new Promise((resolve) => socket.resume().on('error', resolve).once('connect', resolve))),
    );
  }
  await expect.poll(() => strangers.filter(({ destroyed }) => destroyed).length).toBeGreaterThanOrEqual(11 * places);
  expect(await open(url, tokens[5] as string)).toBeInstanceOf(WebSocket);
  expect(await client.call('team.list', {})).toHaveLength(1);
  // The daemon may not have noticed the end of the last ones yet.
  await expect.poll(async () => (await health()).connections).toBeLessThanOrEqual(places + 4);
  expect((await health()).errors).toBe(0);
});
