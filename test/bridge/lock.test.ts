import { execFileSync, fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { appendEntry } from '../../src/bridge/inbox-file.ts';
import { nativePaths } from '../../src/bridge/layout.ts';
import { clearLeftLocks, underLock } from '../../src/bridge/lock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { foreignLock, foreignUnlock, startTeam } from './foreign.ts';
import { proves } from './requirements.ts';

/** Stops a process before its first rename. */
const HELD_UP = join(import.meta.dirname, 'programs/held-up.ts');

const old = (path: string): void => utimesSync(path, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));

describe('the lock beside a file', () => {
  proves('lock-mkdir', 'is a directory that is removed afterwards, and that foreign writers respect', async () => {
    const path = join(temporaryFolder(), 'x.json');
    const inside = await underLock(path, () => existsSync(`${path}.lock`));
    expect([inside, existsSync(`${path}.lock`)]).toEqual([true, false]);
    await expect(underLock(path, () => Promise.reject(new Error('work')))).rejects.toThrow('work');
    expect(await foreignLock(path)).toBe(true);
    let had = false;
    const waiting = underLock(path, () => (had = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(had).toBe(false);
    foreignUnlock(path);
    await waiting;
    expect(had).toBe(true);
  });

  proves('lock-mkdir', 'has the mode 0777 less the umask, like a lock of the program', () => {
    const script = `
      import { statSync } from 'node:fs';
      const { underLock } = await import('${join(import.meta.dirname, '../../src/bridge/lock.ts')}');
      const modes = [];
      for (const mask of [0o022, 0o002, 0o077]) {
        process.umask(mask);
        modes.push(await underLock(process.argv[1], () => (statSync(process.argv[1] + '.lock').mode & 0o777).toString(8)));
      }
      console.log(modes.join());`;
    const path = join(temporaryFolder(), 'x.json');
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script, path], { encoding: 'utf8' });
    expect(said.trim()).toBe('755,775,700');
  });

  proves('lock-stale', 'F24: is taken over by exactly one of many when it was left behind', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.json');
    const log = join(folder, 'log');
    mkdirSync(`${path}.lock`);
    old(`${path}.lock`);
    const program = join(import.meta.dirname, 'programs/lock-contender.ts');
    const contenders = Array.from({ length: 8 }, () => fork(program, [path, log, '5'], { execArgv: [] }));
    onTestFinished(() => contenders.forEach((child: ChildProcess) => child.kill('SIGKILL')));
    const codes = await Promise.all(contenders.map(async (child) => (await once(child, 'exit'))[0] as number));
    expect(codes).toEqual(Array.from({ length: 8 }, () => 0));
    const spans = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(BigInt) as [bigint, bigint])
      .sort(([a], [b]) => (a < b ? -1 : 1));
    expect(spans).toHaveLength(40);
    const overlaps = spans.filter(([from], i) => i > 0 && from < (spans[i - 1] as [bigint, bigint])[1]);
    expect(overlaps).toEqual([]);
  });

  proves('lock-stale', 'F24: is taken over when it is 10 s old, and not before', async () => {
    const path = join(temporaryFolder(), 'x.json');
    mkdirSync(`${path}.lock`);
    const made = statSync(`${path}.lock`).mtimeMs;
    const clock = Date.now;
    onTestFinished(() => {
      Date.now = clock;
    });
    Date.now = () => made + 9_999;
    await expect(underLock(path, () => 0, { silent: 0, longest: 50 })).rejects.toThrow('locked by another program');
    expect(existsSync(`${path}.lock`)).toBe(true);
    Date.now = () => made + 10_001;
    expect(await underLock(path, () => 'mine', { silent: 0, longest: 0 })).toBe('mine');
  });

  test('F24: is left to a foreign program that took it over between our check and our removal', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.json');
    const log = join(folder, 'log');
    mkdirSync(`${path}.lock`);
    old(`${path}.lock`);
    const program = join(import.meta.dirname, 'programs/lock-contender.ts');
    // It has checked the lock, and stops before it moves the lock aside.
    const child = fork(program, [path, log, '1'], { execArgv: ['--import', HELD_UP] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    expect(await once(child, 'message')).toEqual(['about to rename', undefined]);
    // As the program does, which knows nothing of our lock rules.
    rmdirSync(`${path}.lock`);
    mkdirSync(`${path}.lock`);
    const theirs = statSync(`${path}.lock`, { bigint: true });
    const renamed = once(child, 'message');
    writeFileSync(`${log}.go`, '');
    expect((await renamed)[0]).toEqual([
      [`${path}.lock`, expect.stringContaining('.lock.stale.')],
      [expect.stringContaining('.lock.stale.'), `${path}.lock`],
    ]);
    const found = statSync(`${path}.lock`, { bigint: true });
    expect([found.ino, found.mtimeNs, existsSync(log)]).toEqual([theirs.ino, theirs.mtimeNs, false]);
    foreignUnlock(path);
    await ended;
    expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(1);
    expect(readdirSync(folder).sort()).toEqual(['log', 'log.go']);
  });

  test('F28: is not taken over from a live holder because the clock jumped', async () => {
    const path = join(temporaryFolder(), 'x.json');
    mkdirSync(`${path}.lock`);
    // By a clock that jumped ahead, the lock is always old; but its holder keeps touching it.
    let time = 0;
    const now = (): number => {
      time += 200;
      const past = (Date.now() - 3_600_000 + time) / 1000;
      utimesSync(`${path}.lock`, past, past);
      return time;
    };
    await expect(underLock(path, () => 0, { patience: 2_000, longest: 4_000, silent: 500, now })).rejects.toThrow(
      /x\.json has been locked by another program for 2 s/,
    );
    expect(existsSync(`${path}.lock`)).toBe(true);
  });

  test.for([3_600_000, -3_600_000])(
    'F28: is taken over from a dead holder, even if the clock was set by %i ms in between',
    async (step) => {
      const path = join(temporaryFolder(), 'x.json');
      mkdirSync(`${path}.lock`);
      const then = (Date.now() + step) / 1000;
      utimesSync(`${path}.lock`, then, then);
      let time = 0;
      const now = (): number => (time += 100);
      expect(await underLock(path, () => 'mine', { silent: 300, stale: 600, now })).toBe('mine');
      // Not at once: its holder might be alive.
      expect(time).toBeGreaterThanOrEqual(step > 0 ? 600 : 300);
      expect(existsSync(`${path}.lock`)).toBe(false);
    },
  );

  test('F28: is released if the clock was set in between, and not if another holder has taken it over', async () => {
    const path = join(temporaryFolder(), 'x.json');
    const now = Date.now;
    onTestFinished(() => {
      Date.now = now;
    });
    for (const step of [3_600_000, -3_600_000]) {
      await underLock(path, () => {
        Date.now = () => now() + step;
      });
      Date.now = now;
      expect(existsSync(`${path}.lock`)).toBe(false);
    }
    await underLock(path, () => {
      // The machine slept. Another program found the lock old and made its own.
      Date.now = () => now() + 60_000;
      const later = (now() + 59_000) / 1000;
      utimesSync(`${path}.lock`, later, later);
    });
    Date.now = now;
    expect(existsSync(`${path}.lock`)).toBe(true);
  });

  test('F23: that a live holder keeps forever causes an error that names it, and delays nothing else', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.json');
    const holder = spawn('sh', ['-c', `mkdir '${path}.lock'; while :; do touch '${path}.lock'; sleep 0.05; done`]);
    onTestFinished(() => void holder.kill('SIGKILL'));
    await expect.poll(() => existsSync(`${path}.lock`)).toBe(true);
    const held = underLock(path, () => 0, { patience: 300 });
    expect(await underLock(join(folder, 'y.json'), () => 'free')).toBe('free');
    await expect(held).rejects.toThrow('try again');
  });

  test.for(['a file', 'a link', 'filled'])(
    'F25: is never removed, followed or treated as a lock if it is %s',
    async (what) => {
      const folder = temporaryFolder();
      const path = join(folder, 'x.json');
      if (what === 'a file') writeFileSync(`${path}.lock`, '');
      if (what === 'a link') symlinkSync(folder, `${path}.lock`);
      if (what === 'filled') mkdirSync(`${path}.lock/inside`, { recursive: true });
      if (what === 'filled') old(`${path}.lock`);
      const before = readdirSync(folder);
      await expect(underLock(path, () => 0, { silent: 0 })).rejects.toThrow('check it and remove it');
      await clearLeftLocks([path], 0);
      expect(readdirSync(folder)).toEqual(before);
      expect(lstatSync(`${path}.lock`).isSymbolicLink()).toBe(what === 'a link');
      expect(existsSync(`${path}.lock/inside`)).toBe(what === 'filled');
    },
  );

  proves(
    ['inbox-lock-loses', 'inbox-lock-retries'],
    'is never held across a turn of the event loop: a sender that tries only once should not meet it',
    async () => {
      const paths = nativePaths(temporaryFolder(), 'demo');
      startTeam(paths);
      const entry = { from: 'codex', text: 'x'.repeat(500), timestamp: '2026-11-15T00:00:00.000Z' };
      let met = 0;
      let looked = 0;
      let running = true;
      const look = (): void => {
        looked++;
        if (existsSync(`${paths.inbox('bob')}.lock`)) met++;
        if (running) setImmediate(look);
      };
      look();
      for (let i = 0; i < 100; i++) {
        await appendEntry(paths, 'bob', { ...entry, id: crypto.randomUUID() });
        await new Promise((resolve) => setImmediate(resolve));
      }
      running = false;
      expect(looked).toBeGreaterThan(50);
      expect(met).toBe(0);
    },
  );
});
