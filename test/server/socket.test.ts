import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { lineOn, listenSocket, PIECE_BYTES } from '../../src/server/socket.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { setStage } from './stage.ts';
import { startServer } from './start.ts';
import { openUnix } from './wire.ts';

/** A client of a socket, and the line to it. */
async function openLine() {
  const path = join(temporaryFolder(), 's');
  const server = createServer({ allowHalfOpen: true }).listen(path);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = createConnection({ path, allowHalfOpen: true });
  const [socket] = await accepted;
  onTestFinished(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  let text = '';
  client.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const counts = {
    moved: 0,
    done: 0,
    cut: 0,
    callbacks: [() => void counts.moved++, () => void counts.done++] as const,
  };
  return { socket, client, counts, received: () => text, line: lineOn(socket, () => void counts.cut++) };
}

describe('the Unix socket', () => {
  test('can be used only by its owner', async () => {
    const { home } = await startServer();
    expect(statSync(home.socket).mode & 0o777).toBe(0o600);
  });

  test('is refused in a directory that others can enter', async () => {
    const { hub } = await startServer();
    const folder = temporaryFolder();
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o755);
    await expect(listenSocket(join(open, 's'), hub)).rejects.toMatchObject({ code: 'not_allowed' });
    mkdirSync(join(folder, 'closed'), { mode: 0o700 });
    symlinkSync(join(folder, 'closed'), join(folder, 'link'));
    writeFileSync(join(folder, 'file'), '', { mode: 0o600 });
    for (const name of ['link', 'file']) {
      await expect(listenSocket(join(folder, name, 's'), hub)).rejects.toMatchObject({ code: 'not_allowed' });
    }
  });

  test(
    "is refused in another user's directory",
    needs(process.getuid?.() === 0, 'only root can give a directory away'),
    async () => {
      const { hub } = await startServer();
      const folder = join(temporaryFolder(), 'theirs');
      mkdirSync(folder, { mode: 0o700 });
      chownSync(folder, 65_534, 65_534);
      await expect(listenSocket(join(folder, 's'), hub)).rejects.toMatchObject({ code: 'not_allowed' });
    },
  );

  test('that cannot come back is reported, and comes back when it can', async () => {
    const { hub, errors, places } = await startServer();
    const folder = join(temporaryFolder(), 'home');
    const path = join(folder, 's');
    mkdirSync(folder, { mode: 0o700 });
    const listening = (): number => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const socket = await listenSocket(path, hub);
    const before = listening();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'in the way');
    vi.advanceTimersByTime(1_000);
    await until('it is reported', () => errors.length > 0);
    expect(errors).toMatchObject([{ code: 'storage', message: expect.stringMatching(/^Cannot listen on /) as string }]);
    rmSync(folder);
    mkdirSync(folder, { mode: 0o700 });
    await until('it comes back', () => (vi.advanceTimersByTime(1_000), existsSync(path)));
    const again = { message: `${path} was removed, and has been created again` };
    await until('that is reported', () => errors.length > 1);
    expect(errors.slice(1)).toMatchObject([again]);
    expect(listening()).toBe(before);
    await socket.close();
    expect(new Set(places)).toEqual(new Set(['socket']));
  });

  test('comes back after it was removed; open connections are not affected', async () => {
    const stage = await setStage();
    const before = await openUnix(stage.home.socket, stage.token);
    rmSync(stage.home.socket);
    await expect.poll(() => existsSync(stage.home.socket)).toBe(true);
    const after = await openUnix(stage.home.socket, stage.token);
    for (const wire of [before, after]) expect(await wire.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
    expect(statSync(stage.home.socket).mode & 0o777).toBe(0o600);
  });

  test('replaces the socket of a dead daemon, and no other file', async () => {
    const { hub } = await startServer();
    const folder = join(temporaryFolder(), 'home');
    mkdirSync(folder, { mode: 0o700 });
    const path = join(folder, 's');
    const first = createServer().listen(path);
    onTestFinished(() => void first.close());
    await new Promise((resolve) => first.once('listening', resolve));
    const socket = await listenSocket(path, hub);
    await socket.close();
    writeFileSync(join(folder, 'file'), 'mine');
    await expect(listenSocket(join(folder, 'file'), hub)).rejects.toMatchObject({ code: 'exists' });
  });

  test('reports that its path is too long', async () => {
    const { hub } = await startServer();
    const folder = join(temporaryFolder(), 'x'.repeat(120));
    mkdirSync(folder, { mode: 0o700 });
    await expect(listenSocket(join(folder, 's'), hub)).rejects.toMatchObject({ code: 'storage' });
  });

  test('welcomes a client with the caller of its credential', async () => {
    const { home, token, tokens } = await setStage();
    const person = await openUnix(home.socket, token);
    expect(person.frames).toEqual([{ type: 'welcome', id: 'hello', scope: 'admin' }]);
    const member = await openUnix(home.socket, tokens.worker);
    expect(member.frames).toEqual([
      { type: 'welcome', id: 'hello', scope: 'member', teamId: 'demo', memberId: 'worker' },
    ]);
  });

  test('accepts frames that come together with the hello', async () => {
    const { home, token } = await setStage();
    const wire = await openUnix(home.socket);
    wire.send(`{"type":"hello","id":1,"token":"${token}"}\n{"type":"ping","id":2}`);
    expect(await wire.take(({ id }) => id === 2)).toEqual({ type: 'pong', id: 2 });
    expect(wire.frames.map(({ type }) => type)).toEqual(['welcome', 'pong']);
  });

  test('sends an answer of any length whole', async () => {
    const stage = await setStage();
    const description = 'x'.repeat(60_000);
    for (let i = 0; i < 6; i++) await stage.act('task.create', { teamId: 'demo', title: `Long ${i}`, description });
    const wire = await openUnix(stage.home.socket, stage.token);
    const { result } = await wire.ask({ type: 'task.list', payload: { teamId: 'demo' } });
    expect(JSON.stringify(result)?.split(description)).toHaveLength(7);
  });

  test('reads a hello that is as long as that of a stranger may be, and no longer one', async () => {
    const most = 2_000;
    const { home, token } = await startServer({ limits: { strangerBytes: most } });
    const hello = (length: number): string => {
      const text = JSON.stringify({ type: 'hello', id: 1, token, more: '' });
      return text.replace('"more":"', `$&${'x'.repeat(length - text.length)}`);
    };
    const said = async (length: number): Promise<string | undefined> => {
      const wire = await openUnix(home.socket);
      wire.send(hello(length));
      return (await wire.take(() => true)).type;
    };
    expect([await said(most), await said(most + 1)]).toEqual(['welcome', 'error']);
  });

  test('counts clients without a valid token as rejected, and not those for which there is no place', async () => {
    const { home, tokens, hub } = await setStage({ limits: { connectionsPerToken: 1 } });
    const refused = async (): Promise<string | undefined> => {
      const wire = await openUnix(home.socket, tokens.worker);
      return wire.frames[0]?.error?.code ?? refused();
    };
    expect(await refused()).toBe('limit');
    expect(hub.counters.rejected).toBe(0);
    const stranger = await openUnix(home.socket);
    stranger.send('{"type":"hello","token":"made up"}');
    expect(await stranger.take(() => true)).toMatchObject({ error: { code: 'unauthenticated' } });
    expect(hub.counters.rejected).toBe(1);
  });

  test('takes long texts in pieces, and says of each but the last that it moved', async () => {
    const { line, received, counts } = await openLine();
    line.write(['a frame', 'another'], ...counts.callbacks);
    await until('both are there', () => received() === 'a frame\nanother\n');
    for (const [length, moved] of [
      [1, 0],
      [PIECE_BYTES, 0],
      [PIECE_BYTES + 1, 1],
      [2 * PIECE_BYTES, 1],
      [2 * PIECE_BYTES + 1, 2],
    ] as const) {
      const before = { ...counts, received: received().length };
      line.write(['x'.repeat(length - 1)], ...counts.callbacks);
      await until('all of it is taken', () => counts.done > before.done);
      await until('all of it is there', () => received().length >= before.received + length);
      expect([counts.moved - before.moved, counts.done - before.done, received().length - before.received]).toEqual([
        moved,
        1,
        length,
      ]);
    }
  });

  test.each(['cut off', 'closed'])('hears no more of a client that it has %s, and notices its end', async (how) => {
    const { line, socket, client, received, counts } = await openLine();
    const heard: string[] = [];
    socket.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
    client.write('one');
    await until('it is heard', () => heard.length > 0);
    line.pause();
    // Later it would be disconnected in any case.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const ended = new Promise((resolve) => client.once('end', resolve));
    if (how === 'closed') line.close({ code: 1001, reason: 'over' });
    else line.cut({ code: 1013, reason: 'slow' }, 'the last');
    client.write('two');
    await ended;
    expect(received()).toBe(how === 'closed' ? '' : 'the last\n');
    client.end('three');
    while (!socket.closed) await nextTurn();
    expect([heard, counts.cut]).toEqual([['one'], how === 'closed' ? 0 : 1]);
  });

  test('does not wait for longer than 5 s for the end of a client that it has closed or refused', async () => {
    const { hub, home } = await startServer();
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { line, socket } = await openLine();
    line.close({ code: 1001, reason: 'over' });
    const stranger = createConnection({ path: home.socket, allowHalfOpen: true });
    onTestFinished(() => void stranger.destroy());
    stranger.resume().write('no hello\n');
    await once(stranger, 'end');
    // One that ends is gone at once.
    const polite = createConnection({ path: home.socket, allowHalfOpen: true });
    polite.resume().write('no hello\n');
    await once(polite, 'end');
    expect(hub.connections).toBe(2);
    polite.end();
    while (hub.connections > 1) await nextTurn();
    vi.advanceTimersByTime(4_999);
    expect([socket.destroyed, hub.connections]).toEqual([false, 1]);
    vi.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
    vi.useRealTimers();
    await until('the stranger is gone', () => hub.connections === 0);
  });

  test('ignores empty lines before the hello', async () => {
    const { home, token } = await startServer();
    const wire = await openUnix(home.socket);
    wire.send(`\n\n{"type":"hello","id":1,"token":"${token}"}`);
    expect(await wire.take(({ id }) => id === 1)).toMatchObject({ type: 'welcome' });
  });

  test('that is closed while it looks for its file does not come back', async () => {
    const { hub, errors } = await startServer();
    const folder = join(temporaryFolder(), 'home');
    mkdirSync(folder, { mode: 0o700 });
    const path = join(folder, 's');
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    const before = vi.getTimerCount();
    const socket = await listenSocket(path, hub);
    const client = createConnection(path);
    const gone = once(client.resume(), 'close');
    await once(client, 'connect');
    rmSync(path);
    vi.advanceTimersByTime(1_000);
    await socket.close();
    await gone;
    while (hub.connections > 0) await nextTurn();
    expect([existsSync(path), vi.getTimerCount()]).toEqual([false, before]);
    expect(errors).toEqual([]);
  });

  test('does not wait forever for a hello', async () => {
    const { home } = await startServer({ limits: { greetingMs: 100 } });
    const wire = await openUnix(home.socket);
    await wire.closed;
    expect(wire.frames).toMatchObject([{ type: 'error', error: { code: 'unauthenticated' } }]);
  });

  test('waits for a hello only: a client that has said it stays', async () => {
    const { home, token } = await startServer({ limits: { greetingMs: 100 } });
    const wire = await openUnix(home.socket, token);
    await (
      await openUnix(home.socket)
    ).closed;
    expect(await wire.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  });

  test('takes nothing but a hello for one', async () => {
    const { home, token } = await startServer();
    for (const frame of [{ type: 'ping', token }, { type: 'hello' }, null, 'hello', { type: 'hello', token: 1 }]) {
      const wire = await openUnix(home.socket);
      wire.send(JSON.stringify(frame));
      expect(await wire.take(() => true)).toMatchObject({ type: 'error', error: { code: 'unauthenticated' } });
    }
  });

  test('refuses a line that is too long, even before its end', async () => {
    const { home, token } = await startServer({ limits: { messageBytes: 10_000 } });
    for (const text of [`${'x'.repeat(10_001)}\n`, 'x'.repeat(20_000)]) {
      const wire = await openUnix(home.socket, token);
      wire.send(text);
      await wire.closed;
      expect(wire.frames.at(-1)).toMatchObject({ type: 'error', error: { code: 'limit' } });
    }
  });

  test('refuses input that is not UTF-8', async () => {
    const { home, token } = await startServer();
    const socket = createConnection(home.socket);
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.write(`{"type":"hello","token":"${token}"}\n`);
    socket.write(Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]));
    await new Promise((resolve) => socket.once('close', resolve));
    expect(text).toContain('"code":"invalid"');
  });

  test('has a limited number of connections', async () => {
    const { home, token, hub } = await startServer({ limits: { connections: 5 } });
    const wires = [];
    for (let i = 0; i < 5; i++) wires.push(await openUnix(home.socket, token));
    const extra = await openUnix(home.socket);
    await extra.closed;
    expect(extra.frames).toMatchObject([{ type: 'error', error: { code: 'limit' } }]);
    wires[0]?.close();
    await expect.poll(() => [hub.connections, hub.connected.size]).toEqual([4, 4]);
    expect((await openUnix(home.socket, token)).frames).toMatchObject([{ type: 'welcome' }]);
  });
});
