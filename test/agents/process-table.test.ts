import { execSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openProcessTable } from '../../src/agents/process-table.ts';
import { identify, isRunning, MARKER } from '../../src/agents/process.ts';
import { until } from '../until.ts';

describe.each([
  ['/proc', '/proc'],
  ['ps', '/nowhere'],
])('by %s, a process', (_name, proc) => {
  const table = openProcessTable(proc);

  test('is told from a later one with the same pid, and from one before the last boot', async () => {
    const child = spawn('sleep', ['1031'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const identity = identify(child.pid as number, table);
    expect(identity.startTime).not.toBe('');
    expect(identity.bootId).not.toBe('');
    expect(isRunning(identity, table)).toBe(true);
    expect(identify(child.pid as number, table)).toEqual(identity);
    // These start times and boots are those of others.
    expect(isRunning({ ...identity, startTime: identify(1, table).startTime }, table)).toBe(false);
    expect(isRunning({ ...identity, bootId: 'another' }, table)).toBe(false);
    // A record without them names nobody in particular, so nothing may be signalled.
    expect(isRunning({ ...identity, startTime: '' }, table)).toBe(false);
    expect(isRunning({ ...identity, bootId: '' }, table)).toBe(false);
    child.kill('SIGKILL');
    await until('it is gone', () => !isRunning(identity, table));
    await until('it is reaped', () => table.find(child.pid as number) === undefined);
  });

  test('has used a processor, if it has', async () => {
    const child = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    // `ps` may count whole seconds.
    const used = await until('it has used some', () => table.cpuMs(child.pid as number) || undefined);
    expect(used).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await until('it is gone', () => table.cpuMs(child.pid as number) === undefined);
  });

  test('counts as ended when it is a zombie', async () => {
    const parent = spawn('sh', ['-c', 'head -c 1 <&3 > /dev/null & echo $!; exec sleep 1032'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [line] = (await once(parent.stdout as Readable, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const identity = identify(pid, table);
    // The shell would take note of its end; the program in its place never does.
    await until('the shell is gone', () =>
      table.all().some((one) => one.pid === parent.pid && one.words[0] === 'sleep'),
    );
    (parent.stdio[3] as Writable).end('x');
    await until('it is a zombie', () => table.find(pid)?.isZombie);
    expect(isRunning(identity, table)).toBe(false);
  });

  test('is found by its marker, with its command line', async () => {
    const marker = `test-${crypto.randomUUID()}`;
    const child = spawn('sleep', ['1033'], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], [MARKER]: marker, AFTER: 'and more' },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const found = await until('it is found', () => table.withVariable(MARKER).find((one) => one.marker === marker));
    expect(found.pid).toBe(child.pid);
    expect(found.command).toMatch(/^sleep 1033 /);
  });

  test('is listed with its command line, and its folder and variables if the system tells them', async () => {
    const child = spawn('sleep', ['1034'], {
      stdio: 'ignore',
      cwd: '/',
      env: { PATH: process.env['PATH'], KEY: 'a=b' },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const isProc = proc === '/proc';
    const found = await until('it runs sleep', () =>
      table.all().find(({ pid, words }) => pid === child.pid && words.includes('1034')),
    );
    expect(found).toEqual({ pid: child.pid, words: ['sleep', '1034'], cwd: isProc ? '/' : '' });
    expect(table.all().some(({ pid }) => pid === process.pid)).toBe(false);
    expect(table.environmentOf(child.pid as number)?.['KEY']).toBe(isProc ? 'a=b' : undefined);
    expect(table.space()).toMatch(isProc ? /^pid:\[\d+\]$/ : /^$/);
  });

  test('knows its own open files and their limit', () => {
    const before = table.openFiles();
    const files = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'));
    const { open, limit } = table.openFiles();
    for (const file of files) closeSync(file);
    // Files of other tests may be closed meanwhile.
    expect(open).toBeGreaterThan(Math.max(20, before.open));
    expect(limit).toBe(Number(execSync('ulimit -n', { encoding: 'utf8' }).trim().replace('unlimited', 'Infinity')));
  });
});
