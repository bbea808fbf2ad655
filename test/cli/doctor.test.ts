import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { findSandbox } from '../../src/agents/sandbox/able.ts';
import { checkPlatform } from '../../src/cli/commands/doctor/platform.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { BIN, newTroupe } from './troupe.ts';
import type { Given, Troupe } from './troupe.ts';

interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  readonly remedy?: string;
}

async function examine(troupe: Troupe, given?: Given) {
  const { status, stdout } = await troupe.run('doctor --json', given);
  const report = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  return { status, ...report, named: Object.fromEntries(report.checks.map((check) => [check.name, check])) };
}

describe('the doctor', () => {
  test('needs no daemon, starts none and creates no file', async () => {
    const troupe = newTroupe();
    const { status, ok, named } = await examine(troupe);
    expect({ status, ok }).toEqual({ status: 0, ok: true });
    expect(named).toMatchObject({
      node: { state: 'ok', found: expect.stringContaining(process.versions.node) as string },
      home: { state: 'ok', found: expect.stringContaining('the first command creates it') as string },
      disk: { state: 'ok' },
      'socket path': { state: 'ok' },
      daemon: { state: 'ok', found: 'not running; the next command starts it' },
    });
    expect(existsSync(troupe.home)).toBe(false);
  });

  test('looks at the daemon and its files', async () => {
    const troupe = newTroupe();
    await troupe.run('team create demo');
    const { status, named } = await examine(troupe);
    expect(status).toBe(0);
    expect(named).toMatchObject({
      daemon: { state: 'ok', found: expect.stringMatching(/^running, version .*, pid \d+, http:/) as string },
      teams: { state: 'ok', found: '1 in the journal (fsync-before-ack)' },
      'token file': { state: 'ok', found: expect.stringContaining('mode 600') as string },
    });
    await troupe.run('stop');
    expect((await examine(troupe)).named['teams']).toMatchObject({ state: 'ok', found: 'the journal can be read' });
    const { stdout } = await troupe.run('doctor');
    expect(stdout).toMatch(/^✓ node +\d/);
    expect(stdout).toContain('All is well.');
  });

  test('finds a journal page that hides data; the daemon then only reads that journal', async () => {
    const troupe = newTroupe();
    await troupe.run('team create demo');
    await troupe.run('stop');
    const journal = join(troupe.home, 'journal.db');
    const bytes = readFileSync(journal);
    // Overwrites the page of the batches with the page of the teams.
    bytes.copy(bytes, 4 * 4096, 4096, 2 * 4096);
    writeFileSync(journal, bytes);
    const { status, named } = await examine(troupe);
    expect(status).toBe(1);
    expect(named['teams']).toMatchObject({
      state: 'fail',
      found: expect.stringContaining('is damaged, and nothing') as string,
    });
    expect(named['daemon']).toMatchObject({ state: 'ok' });
    expect(await troupe.run('team create other')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Restore it from a copy') as string,
    });
    const { checks } = await examine(troupe);
    expect(checks.filter(({ name }) => name === 'trouble').map(({ found }) => found)).toContainEqual(
      expect.stringContaining('journal.db is damaged'),
    );
    expect(readFileSync(journal).equals(bytes)).toBe(true);
  });

  test('counts the WAL in the size of the journal', async () => {
    const troupe = newTroupe();
    mkdirSync(troupe.home, { mode: 0o700 });
    writeFileSync(join(troupe.home, 'journal.db'), '', { mode: 0o600 });
    writeFileSync(join(troupe.home, 'journal.db-wal'), Buffer.alloc(3 * 1024 * 1024), { mode: 0o600 });
    expect((await examine(troupe)).named['journal']).toMatchObject({ found: 'mode 600, 3.0 MB' });
  });

  test('finds files that are open to others', async () => {
    const troupe = newTroupe();
    mkdirSync(troupe.home, { mode: 0o700 });
    chmodSync(troupe.home, 0o755);
    expect((await examine(troupe)).named['home']).toMatchObject({
      state: 'fail',
      remedy: `run: chmod 700 ${troupe.home}`,
    });
    chmodSync(troupe.home, 0o777);
    writeFileSync(join(troupe.home, 'token'), 'x', { mode: 0o644 });
    const { status, ok, named } = await examine(troupe);
    expect({ status, ok }).toEqual({ status: 1, ok: false });
    expect(named['home']).toMatchObject({
      state: 'fail',
      found: expect.stringContaining('written by others') as string,
    });
    expect(named['token file']).toMatchObject({ state: 'fail', remedy: `run: chmod 600 ${troupe.home}/token` });
    const { stdout } = await troupe.run('doctor');
    expect(stdout).toMatch(/✗ home .*written by others.*\n +→ check that all files in it are yours/);
    expect(stdout).toContain('2 of these must be fixed.');
  });

  test('finds a home that is a symbolic link, or not a directory', async () => {
    const troupe = newTroupe();
    symlinkSync(dirname(troupe.home), troupe.home);
    expect(await examine(troupe)).toMatchObject({
      status: 1,
      named: { home: { state: 'fail', found: expect.stringContaining('symbolic link') as string } },
    });
    const file = join(dirname(troupe.home), 'file');
    writeFileSync(file, '');
    expect(await examine(troupe, { env: { TROUPE_HOME: file } })).toMatchObject({
      status: 1,
      named: { home: { state: 'fail' } },
    });
  });

  test('finds a path too long for a socket, and a file that is not a journal', async () => {
    const troupe = newTroupe();
    const long = join(dirname(troupe.home), 'x'.repeat(100));
    expect(await examine(troupe, { env: { TROUPE_HOME: long } })).toMatchObject({
      status: 1,
      named: { 'socket path': { state: 'fail', remedy: 'set TROUPE_HOME to a shorter path' } },
    });
    mkdirSync(troupe.home, { mode: 0o700 });
    writeFileSync(join(troupe.home, 'journal.db'), 'this is not a database, and long enough to be looked at', {
      mode: 0o600,
    });
    expect(await examine(troupe)).toMatchObject({ status: 1, named: { teams: { state: 'fail' } } });
  });

  test('says that no command can start a daemon whose journal cannot be opened', async () => {
    const troupe = newTroupe();
    const cannot = { state: 'warn', found: expect.stringContaining('not running, and cannot start') as string };
    mkdirSync(troupe.home, { mode: 0o700 });
    const journal = join(troupe.home, 'journal.db');
    await sqliteJournal(journal).close();
    const db = new DatabaseSync(journal);
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect((await examine(troupe)).named).toMatchObject({
      daemon: cannot,
      teams: { state: 'fail', found: expect.stringContaining('written by a newer Troupe') as string },
    });
    writeFileSync(journal, '');
    writeFileSync(join(troupe.home, 'last-journal'), 'sqlite\n');
    expect((await examine(troupe)).named).toMatchObject({
      daemon: cannot,
      teams: { state: 'fail', found: expect.stringContaining('journal.db is empty') as string },
    });
    writeFileSync(join(troupe.home, 'last-journal'), 'nats://127.0.0.1:1\n');
    expect((await examine(troupe)).named).toMatchObject({
      daemon: cannot,
      'server 127.0.0.1:1': { state: 'fail', found: expect.stringContaining('not reachable') as string },
    });
  });

  test('warns about a missing git, but not about optional programs', async () => {
    const troupe = newTroupe();
    const { named, status } = await examine(troupe, { env: { PATH: '/nowhere' } });
    expect(status).toBe(0);
    const without = {
      state: 'ok',
      found: expect.stringMatching(/none is needed \(.* is not on the PATH; to have one/) as string,
    };
    expect(named).toMatchObject({ git: { state: 'warn' }, tmux: { state: 'ok' }, sandbox: without });
    expect(named['agents']).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('none is on the PATH') as string,
    });
  });

  test('says whether a sandbox works here', async (context) => {
    const { program, why } = findSandbox(process.env);
    context.skip(program === undefined, `no sandbox here: ${why}`);
    const { named } = await examine(newTroupe());
    expect(named['sandbox']).toMatchObject({ state: 'ok', found: expect.stringMatching(/^works, by /) as string });
  });

  test('lists the installed agents, and how a team file names them', async () => {
    const troupe = newTroupe();
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'codex'), '#!/bin/sh\n', { mode: 0o700 });
    const { named } = await examine(troupe, { env: { PATH: folder } });
    expect(named['agents']).toMatchObject({
      state: 'ok',
      found: `Codex at ${folder}/codex (agent: codex); troupe agents lists the others`,
    });
  });

  test("warns if others can read Claude Code's teams, and names what it does not look at", async () => {
    const troupe = newTroupe();
    const folder = temporaryFolder();
    const root = join(folder, 'claude');
    mkdirSync(join(root, 'teams'), { recursive: true });
    for (const path of [root, join(root, 'teams')]) chmodSync(path, 0o755);
    const look = async (path: string) => (await examine(troupe, { env: { CLAUDE_CONFIG_DIR: path } })).named;
    expect((await look(root))["Claude Code's teams"]).toMatchObject({
      state: 'warn',
      remedy: `run: chmod 700 ${root}`,
    });
    chmodSync(join(root, 'teams'), 0o777);
    expect((await look(root))["Claude Code's teams"]).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('can be changed by every user of this machine') as string,
    });
    chmodSync(root, 0o700);
    expect((await look(root))["Claude Code's teams"]).toMatchObject({ state: 'ok' });
    symlinkSync(root, join(folder, 'link'));
    expect((await look(join(folder, 'link')))["Claude Code's teams"]).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('symbolic link') as string,
    });
  });
});

describe('the doctor with --fix', () => {
  interface Fixed {
    readonly ok: boolean;
    readonly checks: Check[];
    readonly mended: { name: string; did?: string; failed?: string }[];
  }

  test('mends what it can, says what it did, and leaves the rest to a person', async () => {
    const troupe = newTroupe();
    const user = temporaryFolder();
    const env = { HOME: user, XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined };
    mkdirSync(troupe.home, { mode: 0o700 });
    writeFileSync(join(troupe.home, 'token'), 'x', { mode: 0o644 });
    writeFileSync(join(troupe.home, 'secret'), 'x', { mode: 0o600 });
    // Of a process that is gone, and of one that lives.
    const gone = spawnSync('true').pid;
    writeFileSync(join(troupe.home, `token.${gone}.tmp`), '');
    writeFileSync(join(troupe.home, `token.${process.pid}.tmp`), '');
    chmodSync(troupe.home, 0o755);
    const fish = join(user, '.config/fish/completions/troupe.fish');
    mkdirSync(dirname(fish), { recursive: true });
    writeFileSync(fish, '# Completion of troupe for fish: of an earlier version\n');

    const { stdout: hint } = await troupe.run('doctor', { env });
    expect(hint).toContain('troupe doctor --fix mends 4 problems.\n');
    const { status, stdout } = await troupe.run('doctor --fix --json', { env });
    const { ok, mended } = JSON.parse(stdout) as Fixed;
    expect({ status, ok }).toEqual({ status: 0, ok: true });
    expect(mended).toEqual([
      { name: 'home', did: `chmod 700 ${troupe.home}` },
      { name: 'token file', did: `chmod 600 ${troupe.home}/token` },
      { name: 'leftovers', did: `removed token.${gone}.tmp` },
      { name: 'completion (fish)', did: `wrote ${fish} for this version` },
    ]);
    expect(readdirSync(troupe.home).sort()).toEqual(['secret', 'token', `token.${process.pid}.tmp`]);
    expect(readFileSync(fish, 'utf8')).toBe((await troupe.ask('completion fish')).stdout);

    // A folder that others can write may have files of theirs.
    chmodSync(troupe.home, 0o777);
    const again = await troupe.run('doctor --fix', { env });
    expect(again.status).toBe(1);
    expect(again.stdout).toContain('Nothing was mended.\n1 is yours to mend; → says how.\n');
    expect(statSync(troupe.home).mode & 0o777).toBe(0o777);
  });
});

describe('the platform', () => {
  const look = (platform: NodeJS.Platform, kernel = '6.1.0', cwd = '/home/ada') =>
    checkPlatform({ platform, kernel, cwd });

  test('is told from others: Windows is refused, WSL is fine, its disks of Windows are slow', () => {
    expect(look('linux')).toEqual({ name: 'platform', state: 'ok', found: 'Linux' });
    expect(look('darwin')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('docs/platforms.md') as string,
    });
    expect(look('win32')).toMatchObject({ state: 'fail', remedy: expect.stringContaining('WSL 2') as string });
    const wsl = '5.15.167.4-microsoft-standard-WSL2';
    expect(look('linux', wsl)).toMatchObject({ state: 'ok', found: 'Linux in WSL' });
    expect(look('linux', wsl, '/mnt/c/project')).toMatchObject({ state: 'warn' });
    expect(look('freebsd')).toMatchObject({ state: 'warn' });
  });

  test('of Windows: the doctor says what to do, and other commands do nothing else', () => {
    const folder = temporaryFolder();
    const pretend = join(folder, 'windows.cjs');
    writeFileSync(pretend, `Object.defineProperty(process, 'platform', { value: 'win32' });`);
    const ask = (...words: string[]) =>
      spawnSync(process.execPath, ['--require', pretend, BIN, ...words], {
        env: { PATH: process.env['PATH'], HOME: folder },
        encoding: 'utf8',
      });
    const doctor = ask('doctor', '--json');
    expect(doctor.status).toBe(1);
    const { checks } = JSON.parse(doctor.stdout) as { checks: Check[] };
    expect(checks.map(({ name, state }) => `${name} ${state}`)).toEqual(['node ok', 'platform fail']);
    const other = ask('status');
    expect(other).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('WSL 2') as string });
    expect(readdirSync(folder)).toEqual(['windows.cjs']);
  });
});
