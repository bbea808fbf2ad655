import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import type { SqliteJournal } from '../../src/journal/sqlite.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const EVENT = { type: 'team:created', at: 1, by: '@user' } as never;

function open(path: string, options: { exclusive?: boolean } = {}): ReturnType<typeof sqliteJournal> {
  const journal = sqliteJournal(path, options);
  onTestFinished(() => journal.close());
  return journal;
}

test('a second process cannot write to a file with an exclusive owner, is told what to do, and may read', async () => {
  const path = join(temporaryFolder(), 'journal.db');
  const owner = open(path, { exclusive: true });
  await owner.append('alpha', 0, [EVENT]);
  const other = open(path);
  expect(await other.teams()).toEqual(['alpha']);
  for (const write of [() => other.append('alpha', 1, [EVENT]), () => other.drop('alpha')]) {
    await expect(write()).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(/Only one process may write to .*journal\.db.*troupe stop/),
    });
  }
  expect(() => sqliteJournal(path, { exclusive: true })).toThrow('Another process writes to');
  await owner.close();
  expect(await other.append('alpha', 1, [EVENT])).toBe(2);
});

test('a file that others write to cannot be owned exclusively; a dead process owns nothing', async () => {
  const path = join(temporaryFolder(), 'journal.db');
  const sharing = open(path);
  await sharing.append('alpha', 0, [EVENT]);
  expect(() => sqliteJournal(path, { exclusive: true })).toThrow('Another process writes to');
  await sharing.close();
  const program = `
    const { sqliteJournal } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/journal/sqlite.ts'))});
    await sqliteJournal(process.argv[1], { exclusive: true }).append('beta', 0, [${JSON.stringify(EVENT)}]);
    console.log('ready');
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, path], { stdio: ['ignore', 'pipe', 2] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const other = open(path);
  await expect(other.append('beta', 1, [EVENT])).rejects.toMatchObject({ code: 'storage' });
  child.kill('SIGKILL');
  await ended;
  expect(await other.append('beta', 1, [EVENT])).toBe(2);
});

describe('when the lock file is removed', () => {
  const REFUSED = {
    code: 'storage',
    message: expect.stringMatching(/Somebody removed .*another process wrote/) as string,
  };

  test.each(['removed', 'replaced'])('%s, the owner locks a new one, and no other process can write', async (how) => {
    const path = join(temporaryFolder(), 'journal.db');
    const owner = open(path, { exclusive: true });
    await owner.append('alpha', 0, [EVENT]);
    const other = open(path);
    for (let times = 1; times <= 3; times++) {
      const before = statSync(`${path}.owner`).ino;
      // Takes an inode, so that the next lock file cannot get the inode of the removed one.
      writeFileSync(`${path}.new`, '');
      if (how === 'removed') rmSync(`${path}.owner`);
      else renameSync(`${path}.new`, `${path}.owner`);
      await expect.poll(() => existsSync(`${path}.owner`) && statSync(`${path}.owner`).ino !== before).toBe(true);
      await expect.poll(() => isLocked(`${path}.owner`)).toBe(true);
      await expect(other.append('alpha', times, [EVENT])).rejects.toThrow('Only one process may write to');
      expect(await owner.append('alpha', times, [EVENT])).toBe(times + 1);
    }
  });

  test('and something else is in its place for a while, the owner locks a new one afterwards', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const path = join(temporaryFolder(), 'journal.db');
    const owner = open(path, { exclusive: true });
    rmSync(`${path}.owner`);
    mkdirSync(`${path}.owner`);
    vi.advanceTimersByTime(10_000);
    expect(await owner.append('alpha', 0, [EVENT])).toBe(1);
    rmSync(`${path}.owner`, { recursive: true });
    vi.advanceTimersByTime(10_000);
    expect(isLocked(`${path}.owner`)).toBe(true);
    expect(await owner.append('alpha', 1, [EVENT])).toBe(2);
    rmSync(`${path}.owner`);
    expect(await open(path).append('alpha', 2, [EVENT])).toBe(3);
    vi.advanceTimersByTime(10_000);
    await expect(owner.append('alpha', 3, [EVENT])).rejects.toMatchObject(REFUSED);
  });

  test('and put back in time, the next time is another one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const path = join(temporaryFolder(), 'journal.db');
    open(path, { exclusive: true });
    // It looks once a second; no other event of this process comes in between.
    for (let times = 1; times <= 2; times++) {
      renameSync(`${path}.owner`, `${path}.away`);
      vi.advanceTimersByTime(1_000);
      expect(existsSync(`${path}.owner`)).toBe(false);
      renameSync(`${path}.away`, `${path}.owner`);
      vi.advanceTimersByTime(1_000);
    }
    rmSync(`${path}.owner`);
    vi.advanceTimersByTime(1_000);
    expect(existsSync(`${path}.owner`)).toBe(false);
    vi.advanceTimersByTime(250);
    expect(isLocked(`${path}.owner`)).toBe(true);
  });

  test('with the journal and its folder, the owner does not recreate it', async () => {
    for (let times = 1; times <= 10; times++) {
      const folder = temporaryFolder();
      const owner = open(join(folder, 'journal.db'), { exclusive: true });
      await owner.append('alpha', 0, [EVENT]);
      // Another process, so that the owner can react in between.
      await promisify(execFile)('rm', ['-r', folder]);
      expect(existsSync(folder)).toBe(false);
    }
  });

  test('and another process writes before the owner notices, the owner writes nothing more', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const owner = open(path, { exclusive: true });
    await owner.append('alpha', 0, [EVENT]);
    const other = open(path);
    rmSync(`${path}.owner`);
    const written = other.append('alpha', 1, [EVENT]);
    await expect.poll(() => refusalOf(owner)).toMatchObject(REFUSED);
    expect(await written).toBe(2);
    await other.close();
    await expect(owner.append('alpha', 2, [EVENT])).rejects.toMatchObject(REFUSED);
    await owner.close();
    expect(await open(path, { exclusive: true }).append('alpha', 2, [EVENT])).toBe(3);
  });

  test('and another process wrote and ended before the owner notices, the owner refuses to write, too', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const owner = open(path, { exclusive: true });
    await owner.append('alpha', 0, [EVENT]);
    rmSync(`${path}.owner`);
    const program = `
      const { sqliteJournal } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/journal/sqlite.ts'))});
      const journal = sqliteJournal(process.argv[1]);
      await journal.append('alpha', 1, [${JSON.stringify(EVENT)}]);
      await journal.close();`;
    execFileSync(process.execPath, ['--input-type=module', '-e', program, path]);
    await expect.poll(() => refusalOf(owner)).toMatchObject(REFUSED);
  });

  test('sharing processes yield to an exclusive owner, and write again after it has closed', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const sharing = open(path);
    await sharing.append('alpha', 0, [EVENT]);
    rmSync(`${path}.owner`);
    const alone = open(path, { exclusive: true });
    await expect
      .poll(() => refusalOf(sharing))
      .toMatchObject({ message: expect.stringContaining('Only one process may write to') as string });
    await alone.close();
    expect(await sharing.append('alpha', 1, [EVENT])).toBe(2);
  });

  async function refusalOf(journal: SqliteJournal): Promise<unknown> {
    try {
      await journal.append('beta', 0, [EVENT]);
      await journal.drop('beta');
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Synchronous, so that no other code of this process runs while it holds the lock. */
  function isLocked(path: string): boolean {
    const db = new DatabaseSync(path);
    try {
      db.exec('BEGIN EXCLUSIVE; ROLLBACK');
      return false;
    } catch {
      return true;
    } finally {
      db.close();
    }
  }
});

test('opening creates no files beside a file that is no journal or was truncated', () => {
  const folder = temporaryFolder();
  const text = join(folder, 'passwd');
  writeFileSync(text, 'root:x:0:0:root:/root:/bin/sh\n'.repeat(8));
  expect(() => sqliteJournal(text, { exclusive: true })).toThrow(
    `Cannot open the journal in ${text}: the file is damaged or no journal`,
  );
  const cut = join(folder, 'cut.db');
  writeFileSync(cut, '');
  writeFileSync(`${cut}-wal`, 'what was acknowledged');
  for (const exclusive of [true, false]) {
    expect(() => sqliteJournal(cut, { exclusive })).toThrow('cut.db is empty, and its log');
  }
  expect(readFileSync(`${cut}-wal`, 'utf8')).toBe('what was acknowledged');
  expect(readdirSync(folder).sort()).toEqual(['cut.db', 'cut.db-wal', 'passwd']);
});

test('a name that is too long for the file system is refused, with the reason', () => {
  const path = join(temporaryFolder(), 'x'.repeat(300));
  const refused = { code: 'storage', message: expect.stringContaining('ENAMETOOLONG') };
  expect(() => sqliteJournal(path, { exclusive: true })).toThrow(expect.objectContaining(refused));
});

test('a lock that SQLite cannot open is named in a refusal', () => {
  // SQLite takes paths of at most 512 bytes: enough for the journal, and not for the file that is locked.
  const start = `${temporaryFolder()}/`;
  // Folders with short names, however long the name of the temporary folder is.
  const folders = 'a/'.repeat(256).slice(0, 508 - start.length - '/j.db'.length);
  const path = join(`${start}${folders}`.replace(/\/$/, 'b'), 'j.db');
  expect(path).toHaveLength(508);
  mkdirSync(dirname(path), { recursive: true });
  const refused = { code: 'storage', message: expect.stringContaining(`Cannot take the lock in ${path}.owner`) };
  expect(() => sqliteJournal(path, { exclusive: true })).toThrow(expect.objectContaining(refused));
});
