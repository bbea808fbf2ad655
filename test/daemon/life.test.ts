import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { identify, isRunning } from '../../src/agents/process.ts';
import { homeAt } from '../../src/client/home.ts';
import { startDaemon } from '../../src/daemon.ts';
import { removeCard, writeCard } from '../../src/runtime/card.ts';
import { takeLock } from '../../src/runtime/lock.ts';
import { makeCertificate } from '../certificate.ts';
import { rounds } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { HANG_MS, until } from '../until.ts';
import { run } from './processes.ts';
import { BIN, connect, environmentFor, readLog, serve, spawnServe, temporaryHome } from './serve.ts';

/** The files that a daemon leaves in its home after a clean exit. */
const LEFT = [
  'daemon.log',
  'depots',
  'indexes',
  'journal.db',
  'journal.db.bell',
  'journal.db.mark',
  'journal.db.owner',
  'last-journal',
  'launcher',
  'lock.db',
  'port',
  'processes',
  'reserve',
  'secret',
  'token',
  'trash',
  'workspaces',
];

describe('starting', () => {
  test('F7: commands that race to start the daemon get one daemon', async () => {
    const home = temporaryHome();
    const commands = Array.from({ length: rounds(3, 20) }, () =>
      run(BIN, ['status', '--json'], { env: environmentFor(home) }),
    );
    const codes = await Promise.all(commands.map(({ ended }) => ended));
    expect(codes, commands.map(({ output }) => output.stderr).join('')).toEqual(codes.map(() => 0));
    const pids = commands.map(({ output }) => (JSON.parse(output.stdout) as { pid: number }).pid);
    expect(new Set(pids).size).toBe(1);
    expect(readLog(home).filter(({ event }) => event === 'daemon.ready')).toHaveLength(1);
    expect(await run(BIN, ['stop'], { env: environmentFor(home) }).ended).toBe(0);
    await until('the process is gone', () => !existsSync(`/proc/${pids[0]}`));
  });

  test('if several daemons start at once, one stays, and the others exit with 75 and name it', async () => {
    const home = temporaryHome();
    const daemons = Array.from({ length: rounds(3, 8) }, () => spawnServe(home));
    await until(
      'one is ready and the others have ended',
      () =>
        daemons.filter(({ child }) => child.exitCode === 75).length === daemons.length - 1 &&
        daemons.some(({ output }) => output.stdout.includes('"ready":true')),
    );
    const winner = daemons.find(({ child }) => child.exitCode === null);
    const others = daemons.filter((one) => one !== winner);
    // The last words of a process may come after its exit code.
    await Promise.all(others.map(({ ended }) => ended));
    for (const { output } of others) {
      expect(JSON.parse(output.stderr)).toEqual({
        error: { code: 'conflict', message: `Process ${winner?.pid} is already the daemon of ${home.directory}` },
      });
    }
  });

  test('a command waits for a daemon that is slow to start, even if the one that it started itself gave way', async () => {
    const home = temporaryHome();
    const lock = await takeLock(home);
    const startedAt = new Date().toISOString();
    writeCard(home.card, { ...identify(process.pid), startedAt, version: '0', socket: home.socket, url: null });
    const command = run(BIN, ['status', '--json'], { env: environmentFor(home) });
    await until(
      'its daemon has given way',
      () => existsSync(home.log) && /is already the daemon/.test(readFileSync(home.log, 'utf8')),
    );
    // A command that gives up would do so after a second.
    await Promise.race([command.ended, sleep(1_500)]);
    removeCard(home.card);
    lock.release();
    const daemon = await startDaemon({ home });
    expect(await command.ended, command.output.stderr).toBe(0);
    expect(JSON.parse(command.output.stdout)).toMatchObject({ pid: process.pid });
    await daemon.close();
  });

  test('keeps its port across restarts while it is free, and takes another one if it is not', async () => {
    const home = temporaryHome();
    const first = await startDaemon({ home });
    await first.close();
    const second = await startDaemon({ home });
    expect(second.url).toBe(first.url);
    await second.close();
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(Number(new URL(first.url).port), '127.0.0.1', resolve));
    const third = await startDaemon({ home });
    expect(third.url).not.toBe(first.url);
    await third.close();
    squatter.close();
  });

  test('two daemons in one process exclude each other as two processes do', async () => {
    const home = temporaryHome();
    const first = await startDaemon({ home });
    await expect(startDaemon({ home })).rejects.toMatchObject({ name: 'LockedError', pid: process.pid });
    await first.close();
    await (await startDaemon({ home })).close();
  });

  test('creates its files and folders for its owner alone, whatever the umask', async () => {
    const home = homeAt(join(temporaryFolder(), 'a', 'b', 'state'));
    const umask = process.umask(0);
    try {
      const daemon = await serve(home, { env: { NODE_COMPILE_CACHE: '' } });
      const client = connect(home);
      await client.call('team.create', { name: 'demo' });
      const cache = join(home.directory, 'cache');
      await until(
        'compiled code is kept',
        () => existsSync(cache) && readdirSync(cache, { recursive: true }).length > 2,
      );
      const seen = [home.directory, dirname(home.directory)].map((path) => lstatSync(path).mode & 0o777);
      expect(seen).toEqual([0o700, 0o700]);
      for (const entry of readdirSync(home.directory, { recursive: true, withFileTypes: true })) {
        const mode = lstatSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.mode;
        // Node writes its cache under temporary names first.
        if (mode === undefined) continue;
        const isRun = entry.isDirectory() || entry.parentPath === home.launcher;
        expect([entry.name, (mode & 0o777).toString(8)]).toEqual([entry.name, isRun ? '700' : '600']);
      }
      daemon.child.kill('SIGTERM');
      expect(await daemon.ended).toBe(0);
    } finally {
      process.umask(umask);
    }
  });

  test('makes a home private that others could read', async () => {
    const home = temporaryHome();
    chmodSync(home.directory, 0o755);
    await (await startDaemon({ home })).close();
    expect(lstatSync(home.directory).mode & 0o777).toBe(0o700);
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ['a link', (path) => symlinkSync(dirname(path), path), /is a symbolic link: set TROUPE_HOME to where it leads/],
    ['a file', (path) => writeFileSync(path, ''), /cannot be made|is not a directory/],
    ['a directory that others can write', (path) => openToAll(path), /can be written by others .* chmod 700/],
  ])('refuses a home that is %s, and says what to do', async (_what, make, message) => {
    const path = join(temporaryFolder(), 'home');
    make(path);
    await expect(startDaemon({ home: homeAt(path) })).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(message) as string,
    });
    const told = run(BIN, ['serve'], { env: environmentFor(homeAt(`${path}/`)) });
    expect(await told.ended).toBe(1);
    expect(told.output.stderr).toMatch(message);
  });

  test('refuses a home that belongs to somebody else', async (context) => {
    context.skip(process.getuid?.() !== 0, 'only root can give a directory away');
    const home = temporaryHome();
    const { chownSync } = await import('node:fs');
    chownSync(home.directory, 65_534, 65_534);
    await expect(startDaemon({ home })).rejects.toThrow(/belongs to user 65534/);
  });

  test('says if the path of its socket is too long', async () => {
    const home = homeAt(join(temporaryFolder(), 'x'.repeat(120)));
    await expect(startDaemon({ home })).rejects.toThrow(/set TROUPE_HOME to a shorter path/);
  });
});

describe('ending', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('on %s leaves no socket, card or process', async (signal) => {
    const home = temporaryHome();
    const daemon = await serve(home);
    await connect(home).call('team.create', { name: 'demo' });
    expect(JSON.parse(readFileSync(home.card, 'utf8'))).toMatchObject({ pid: daemon.pid, url: daemon.url });
    daemon.child.kill(signal);
    expect(await daemon.ended).toBe(0);
    expect(readdirSync(home.directory).sort()).toEqual(LEFT);
    expect(readLog(home).at(-1)).toMatchObject({ event: 'daemon.closing' });
  });

  test('by daemon.stop answers first, finishes running calls, and notifies the clients', async () => {
    const home = temporaryHome();
    const daemon = await startDaemon({ home, drainMs: HANG_MS });
    const client = connect(home, { patience: 0 });
    await client.call('team.create', { name: 'demo' });
    const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${readFileSync(home.tokenFile, 'utf8').trim()}` },
    });
    await new Promise((resolve) => socket.addEventListener('open', resolve));
    const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)));
    const waiting = client.call('task.claim', { teamId: 'demo', wait: 60_000 }, { as: 'lead' });
    const outcome = expect(waiting).rejects.toMatchObject({ code: 'no_daemon' });
    const created = Array.from({ length: 50 }, (_, n) =>
      client.call('task.create', { teamId: 'demo', title: `t${n}` }),
    );
    const stopped = client.call('daemon.stop', {});
    await expect(Promise.all(created)).resolves.toHaveLength(50);
    await expect(stopped).resolves.toEqual({ stopping: true });
    expect(await closed).toBe(1001);
    await outcome;
    await daemon.ended;
    const again = await startDaemon({ home });
    const { tasks } = await connect(home).call('team.status', { teamId: 'demo' });
    expect(Object.values(tasks).reduce((sum, count) => sum + count)).toBe(50);
    await again.close();
  });

  test('is immediate on a second signal', async () => {
    const home = temporaryHome();
    // A collector that accepts everything and never answers delays the end.
    const collector = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void collector.close());
    const { port } = collector.address() as AddressInfo;
    const daemon = await serve(home, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } });
    await connect(home).call('team.create', { name: 'demo' });
    // Both signals are pending when it continues, so it cannot end before the second. They differ, so they don't merge.
    for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) daemon.child.kill(signal);
    expect(await daemon.ended).toBe(1);
    expect(readLog(home).filter(({ event }) => event === 'daemon.closing')).toHaveLength(1);
    await (await startDaemon({ home })).close();
  });

  test('happens by itself when its home is replaced, and does not touch the new files', async () => {
    const home = temporaryHome();
    const daemon = await serve(home);
    renameSync(home.directory, `${home.directory}-moved`);
    mkdirSync(home.directory, { mode: 0o700 });
    writeFileSync(home.socket, 'not yours');
    expect(await daemon.ended).toBe(1);
    expect(daemon.output.stderr).toContain('was removed or replaced');
    expect(readFileSync(home.socket, 'utf8')).toBe('not yours');
  });
});

describe('after kill -9', () => {
  test('the daemon is ready again with all its data', async () => {
    const home = temporaryHome();
    const first = await serve(home);
    const client = connect(home);
    await client.call('team.create', { name: 'demo' });
    await client.call('member.add', { teamId: 'demo', name: 'worker' });
    await client.call('task.create', { teamId: 'demo', title: 'survive' });
    const claimed = await client.call('task.claim', { teamId: 'demo' }, { as: 'worker' });
    await client.call('message.send', { teamId: 'demo', toId: 'worker', content: 'hello' }, { as: 'lead' });
    first.child.kill('SIGKILL');
    await first.ended;
    expect(existsSync(home.socket)).toBe(true);

    await serve(home);
    const inbox = await client.call('message.inbox', { teamId: 'demo' }, { as: 'worker' });
    expect(inbox).toMatchObject([{ content: 'hello' }]);
    expect(await client.call('task.list', { teamId: 'demo' })).toEqual([claimed]);
    expect((await client.call('daemon.status', {})).teamMetrics).toMatchObject({ totalTeamsCreated: 1 });
  });

  test('the next command starts the daemon again', async () => {
    const home = temporaryHome();
    const env = environmentFor(home);
    expect(await run(BIN, ['team', 'create', 'demo'], { env }).ended).toBe(0);
    const { pid } = JSON.parse(readFileSync(home.card, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await until('it is gone', () => !isRunning(identify(pid)));
    const next = run(BIN, ['team', 'show', 'demo', '--json'], { env });
    expect(await next.ended).toBe(0);
    expect(JSON.parse(next.output.stdout)).toMatchObject({ id: 'demo' });
    expect(await run(BIN, ['stop'], { env }).ended).toBe(0);
  });
});

describe('serve', () => {
  test.each([
    [['--port', 'x'], 2, /a port is a number/],
    [['--journal', 'mysql://x'], 2, /is not a journal/],
    [['--nonsense'], 2, /nonsense/],
    [['--host', '0.0.0.0'], 2, /lets other machines in/],
    [['--tls-cert', 'a.pem'], 2, /go together/],
  ])('says what is wrong with %j', async (args, code, message) => {
    const home = temporaryHome();
    const daemon = spawnServe(home, { args });
    expect(await daemon.ended).toBe(code);
    expect((JSON.parse(daemon.output.stderr) as { error: { message: string } }).error.message).toMatch(message);
    expect(existsSync(home.card)).toBe(false);
  });

  test('says what is wrong with a variable', async () => {
    const daemon = spawnServe(temporaryHome(), { env: { TROUPE_LOG_LEVEL: 'loud' } });
    expect(await daemon.ended).toBe(2);
    const message = 'TROUPE_LOG_LEVEL=loud: there are error, warn, info, debug';
    expect(JSON.parse(daemon.output.stderr)).toEqual({ error: { code: 'invalid', message } });
  });

  test('says which file of a certificate and its key is wrong', async (context) => {
    needTool(context, 'openssl');
    const { cert, key } = makeCertificate('troupe.example');
    const other = makeCertificate('troupe.example');
    const text = join(temporaryFolder(), 'text');
    writeFileSync(text, 'no PEM');
    const open = ['--host', '0.0.0.0', '--origin', 'https://troupe.example:9443'];
    for (const [certFile, keyFile, message] of [
      [key, cert, `--tls-cert ${key} holds no certificate in PEM: is it the key?`],
      [text, key, `--tls-cert ${text} holds no certificate in PEM`],
      [cert, text, `--tls-key ${text} holds no private key in PEM, or one with a passphrase`],
      [cert, other.key, `--tls-key ${other.key} is not the key of --tls-cert ${cert}`],
    ] as const) {
      const daemon = spawnServe(temporaryHome(), { args: [...open, '--tls-cert', certFile, '--tls-key', keyFile] });
      expect(await daemon.ended).toBe(2);
      expect(JSON.parse(daemon.output.stderr)).toEqual({ error: { code: 'invalid', message } });
    }
    const home = temporaryHome();
    const args = ['serve', ...open, '--tls-cert', cert, '--tls-key', key];
    const daemon = run(BIN, args, { env: environmentFor(home) });
    await expect
      .poll(() => daemon.output.stderr)
      .toMatch(/^Troupe runs at https:\/\/troupe\.example:9443, and listens on 0\.0\.0\.0:\d+ \(/);
    daemon.child.kill('SIGINT');
    expect(await daemon.ended).toBe(0);
  });

  test('says in one line where it runs and how to end it; a journal in memory leaves no file', async () => {
    const home = temporaryHome();
    const daemon = run(BIN, ['serve', '--journal', 'memory', '--name', 'here'], { env: environmentFor(home) });
    await expect.poll(() => daemon.output.stderr).toMatch(/Ctrl-C ends it\n$/);
    const said =
      /^Troupe, named here, runs at http:\/\/127\.0\.0\.1:\d+ \(process \d+, journal memory\); Ctrl-C ends it\n$/;
    expect(daemon.output).toEqual({ stdout: '', stderr: expect.stringMatching(said) as string });
    const { journal } = await connect(home).call('daemon.status', {});
    expect(journal).toEqual({ kind: 'memory', location: 'memory', durability: 'memory' });
    daemon.child.kill('SIGINT');
    expect(await daemon.ended).toBe(0);
    expect(existsSync(home.journal)).toBe(false);
  });
});

function openToAll(path: string): void {
  mkdirSync(path);
  chmodSync(path, 0o777);
}
