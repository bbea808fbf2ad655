import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { collect, error, fill, note, numbers, startFollowing, texts } from '../contracts/journal/notes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { startFixture } from './children.ts';
import { openFile, withFile } from './files.ts';
import { mountReadOnly, mountSmall, needMounts } from './mounts.ts';

describe('a full disk', () => {
  test('fails the append and keeps acknowledged batches; appends work again when there is space', async (context) => {
    needMounts(context);
    const folder = temporaryFolder();
    mountSmall(folder, '1m');
    const ballast = join(folder, 'ballast');
    writeFileSync(ballast, Buffer.alloc(300_000));
    const journal = openFile(join(folder, 'journal.db'));
    await fill(journal, 'b', 3);

    const { end, failure } = await appendUntilFailure(journal, 'a', 20_000);
    expect(failure).toEqual(error('storage'));
    expect(failure?.message).toMatch(/^Cannot append to team "a" in .*journal\.db: the disk is full\. Free some space/);
    expect(end).toBeGreaterThan(3);
    // Memory and disk agree, and reading still works.
    expect((await collect(journal.read('a', 0))).map(({ seq }) => seq)).toEqual(numbers(1, end));
    expect(await texts(journal.read('b', 0))).toEqual(['1', '2', '3']);
    const large = [note('x'.repeat(200_000))];
    const calls = [journal.append('a', end, large), journal.append('b', 3, large), journal.append('c', 0, large)];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: error('storage') });
    }

    rmSync(ballast);
    expect(await journal.append('a', end, [note('there is room')])).toBe(end + 1);
    expect(await journal.append('b', 3, [note('4')])).toBe(4);
    // Team c was not stored, so team d gets its row id. The journal must not confuse the two.
    expect(await journal.append('d', 0, [note('1')])).toBe(1);
    await expect(journal.append('c', 1, [note('x')])).rejects.toMatchObject(error('journal_conflict'));
    await journal.close();

    const again = openFile(join(folder, 'journal.db'));
    expect((await collect(again.read('a', 0))).map(({ seq }) => seq)).toEqual(numbers(1, end + 1));
    expect(await texts(again.read('b', 0))).toEqual(['1', '2', '3', '4']);
    expect(await again.teams()).toEqual(['a', 'b', 'd']);
  });

  test('fails to create a journal, and the journal can be opened when there is space', async (context) => {
    needMounts(context);
    const folder = temporaryFolder();
    mountSmall(folder, '64k');
    const ballast = join(folder, 'ballast');
    writeFileSync(ballast, Buffer.alloc(60_000));
    expect(() => sqliteJournal(join(folder, 'journal.db'))).toThrow(error('storage'));
    rmSync(ballast);
    writeFileSync(join(folder, 'smaller'), '');
    execFileSync('mount', ['-o', 'remount,size=1m', folder]);
    const journal = openFile(join(folder, 'journal.db'));
    await fill(journal, 'a', 2);
    expect(await texts(journal.read('a', 0))).toEqual(['1', '2']);
  });
});

describe('a faulty disk', () => {
  test.for([
    {
      what: 'has no room for some writes',
      calls: 'pwrite64',
      fault: 'error=ENOSPC',
      says: /the disk is full\. Free some space/,
    },
    { what: 'fails some writes', calls: 'pwrite64', fault: 'error=EIO', says: /the disk reported an error\. Check it/ },
    {
      what: 'fails some flushes',
      calls: 'fsync,fdatasync',
      fault: 'error=EIO',
      says: /the disk reported an error\. Check it/,
    },
    { what: 'is interrupted', calls: 'pwrite64', fault: 'error=EINTR', says: undefined },
  ])('that $what has stored exactly the acknowledged batches', async ({ calls, fault, says }, context) => {
    needTool(context, 'strace');
    const path = join(temporaryFolder(), 'journal.db');
    // Opening writes the whole log once. After that every 23rd call fails.
    const when = calls === 'pwrite64' ? '2100+23' : '5+23';
    const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', `${path}-wal`, '-e', `trace=${calls}`];
    const prefix = [...strace, '-e', `inject=${calls}:${fault}:when=${when}`];
    const child = startFixture('journal-faulty', [path, '500'], { prefix });
    expect(await child.ended).toEqual({ code: 0, signal: null, errors: '' });
    const failures = child.lines.filter((line) => line.startsWith('FAILED'));
    if (says === undefined) expect(failures).toEqual([]);
    else expect(failures.length).toBeGreaterThan(5);
    for (const line of failures) {
      expect(line).toMatch(/^FAILED storage Cannot append to team "[ab]" in .*journal\.db: /);
      expect(line).toMatch(says as RegExp);
    }

    const [, a, b] = child.lines.at(-1)?.split(' ') ?? [];
    const journal = openFile(path);
    expect((await collect(journal.read('a', 0))).map(({ seq }) => seq)).toEqual(numbers(1, Number(a)));
    expect((await collect(journal.read('b', 0))).map(({ seq }) => seq)).toEqual(numbers(1, Number(b)));
    expect(Number(a)).toBeGreaterThan(200);
  });
});

describe('a batch that was refused because its flush failed', () => {
  test.for([
    { what: 'is not there after a crash', after: [], faults: '7' },
    { what: 'is not taken for damage behind what came after it', after: ['20000', '1'], faults: '7..8' },
  ])('$what', async ({ after, faults }, context) => {
    needTool(context, 'strace');
    const path = join(temporaryFolder(), 'journal.db');
    const calls = 'fsync,fdatasync';
    // Opening flushes three times, and so do the three appends before.
    const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', `${path}-wal`, '-e', `trace=${calls}`];
    const prefix = [...strace, '-e', `inject=${calls}:error=EIO:when=${faults}`];
    const sizes = ['1', '1', '1', '60000', ...after];
    const child = startFixture('journal-refused', [path, ...sizes], { prefix });
    expect(await child.ended).toMatchObject({ signal: 'SIGKILL', errors: '' });
    const before = ['appended 1', 'appended 2', 'appended 3', 'refused: storage'];
    expect(child.lines).toEqual(after.length > 0 ? [...before, 'refused: storage', 'appended 4'] : before);
    const journal = openFile(path);
    expect((await collect(journal.read('a', 0))).map(({ seq }) => seq)).toEqual(numbers(1, after.length > 0 ? 4 : 3));
  });
});

describe('an append', () => {
  test('is acknowledged after its flush', async (context) => {
    needTool(context, 'strace');
    const folder = temporaryFolder();
    const path = join(folder, 'journal.db');
    const trace = join(folder, 'trace');
    const prefix = ['strace', '-f', '-y', '-qq', '-o', trace, '-e', 'trace=pwrite64,fsync,fdatasync,write'];
    const child = startFixture('journal-appender', [path, 'a', 'name', '30'], { prefix });
    expect(await child.ended).toEqual({ code: 0, signal: null, errors: '' });

    const calls = readFileSync(trace, 'utf8').split('\n');
    let flushed = true;
    let acknowledged = 0;
    for (const call of calls) {
      if (/ pwrite64\(\d+<.*journal\.db-wal>/.test(call)) flushed = false;
      if (/ f(data)?sync\(\d+<.*journal\.db-wal>/.test(call)) flushed = true;
      if (!/ write\(1<.*>, "\d+\\n"/.test(call)) continue;
      expect(flushed, call).toBe(true);
      acknowledged++;
    }
    expect(acknowledged).toBe(30);
  });
});

describe('a file that can only be read', () => {
  test('can be read, and refuses writes', async (context) => {
    context.skip(process.getuid?.() !== 0, 'only root may make a file unchangeable');
    needTool(context, 'chattr');
    const path = join(temporaryFolder(), 'journal.db');
    await withFile(path, (journal) => fill(journal, 'a', 3));
    chmodSync(path, 0o644);
    try {
      execFileSync('chattr', ['+i', path], { stdio: 'ignore' });
    } catch {
      context.skip('this file system knows no unchangeable files');
    }
    onTestFinished(() => {
      execFileSync('chattr', ['-i', path]);
    });
    await expectReadOnly(openFile(path));
  });

  test('on a read-only mount can be read, and refuses writes', async (context) => {
    needMounts(context);
    const [folder, place] = twoFolders();
    await withFile(join(folder, 'journal.db'), (journal) => fill(journal, 'a', 3));
    mountReadOnly(folder, place);
    const before = readdirSync(place);
    await expectReadOnly(openFile(join(place, 'journal.db')));
    expect(readdirSync(place)).toEqual(before);
  });

  test('can be read by its owner in a folder without write permission', async () => {
    const [folder] = twoFolders();
    const path = join(folder, 'journal.db');
    await withFile(path, (journal) => fill(journal, 'a', 3));
    for (const name of readdirSync(folder)) if (name !== 'journal.db') rmSync(join(folder, name));
    // Root ignores the permissions of a folder.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    if (uid !== undefined) for (const one of [folder, path]) chownSync(one, uid, uid);
    chmodSync(dirname(folder), 0o755);
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    const reader = startFixture('journal-follower', [path, 'a', '3'], uid === undefined ? {} : { uid });
    expect(await reader.ended).toEqual({ code: 0, signal: null, errors: '' });
    expect(reader.lines).toEqual(['open', '1', '2', '3']);
    expect(readdirSync(folder)).toEqual(['journal.db']);
  });

  test('can be followed while another process writes it through another mount', async (context) => {
    needMounts(context);
    const [folder, place] = twoFolders();
    const writer = openFile(join(folder, 'journal.db'));
    await fill(writer, 'a', 3);
    mountReadOnly(folder, place);
    const reader = openFile(join(place, 'journal.db'));
    const follower = startFollowing(reader, 'a', 0);
    await follower.until(3);
    await fill(writer, 'a', 6, 3);
    await follower.until(6);
    await expect(reader.append('a', 6, [note('x')])).rejects.toMatchObject(error('storage'));
  });

  test('cannot be created on a read-only mount', (context) => {
    needMounts(context);
    const [folder, place] = twoFolders();
    mountReadOnly(folder, place);
    expect(() => sqliteJournal(join(place, 'journal.db'))).toThrow(error('storage'));
    expect(() => sqliteJournal(join(place, 'journal.db'))).toThrow('it is read-only');
  });
});

async function expectReadOnly(journal: Journal): Promise<void> {
  expect(await texts(journal.read('a', 0))).toEqual(['1', '2', '3']);
  expect(await journal.teams()).toEqual(['a']);
  const follower = startFollowing(journal, 'a', 1);
  await follower.until(2);
  const calls = [
    journal.append('a', 3, [note('4')]),
    journal.append('b', 0, [note('1')]),
    journal.drop('a'),
    journal.saveSnapshot('a', { seq: 3, body: 'x' }),
  ];
  for (const call of calls) await expect(call).rejects.toThrow(/: it is read-only\. Check the owner and mode/);
  await expect(calls[0]).rejects.toMatchObject(error('storage'));
  expect(await texts(journal.read('a', 0))).toEqual(['1', '2', '3']);
}

async function appendUntilFailure(journal: Journal, team: string, size: number) {
  for (let end = 0; ;) {
    try {
      end = await journal.append(team, end, [note('x'.repeat(size))]);
    } catch (failure) {
      return { end, failure: failure instanceof TeamError ? failure : undefined };
    }
  }
}

function twoFolders(): [string, string] {
  const root = temporaryFolder();
  const folders: [string, string] = [join(root, 'folder'), join(root, 'place')];
  for (const folder of folders) mkdirSync(folder);
  return folders;
}
