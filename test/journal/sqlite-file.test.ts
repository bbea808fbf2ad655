import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { error, fill, note, startFollowing, texts } from '../contracts/journal/notes.ts';
import { countWatches, needOpenFiles, openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { openFile, withFile } from './files.ts';

/** Longer than any test: followers depend on the bell. */
const BELL_ONLY = { pollMs: 3_600_000 };

describe('the bell of a file', () => {
  test('rings for every commit of another handle', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const [reader, writer] = [openFile(path, BELL_ONLY), openFile(path)];
    await fill(writer, 'a', 1);
    const follower = startFollowing(reader, 'a', 0);
    await follower.until(1);
    for (let seq = 1; seq < 5; seq++) {
      await fill(writer, 'a', seq + 1, seq);
      await follower.until(seq + 1);
    }
    expect(follower.seen).toEqual([1, 2, 3, 4, 5]);
  });

  test('may get lost: followers look now and then', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await withFile(path, (journal) => fill(journal, 'a', 1));
    const reader = openFile(path, { pollMs: 5 });
    const follower = startFollowing(reader, 'a', 0);
    await follower.until(1);
    // Past the journal, so that nothing rings.
    const body = JSON.stringify([note('2')]);
    edit(path, `INSERT INTO batches (id, body, sum) VALUES (${2 ** 32 + 2}, '${body}', ${crc32(body, 2)})`);
    await follower.until(2);
    expect(follower.seen).toEqual([1, 2]);
  });

  test('is watched as long as somebody follows', async (context) => {
    needOpenFiles(context);
    const journal = openFile(join(temporaryFolder(), 'journal.db'));
    await fill(journal, 'a', 1);
    const before = countWatches();
    const followers = [
      startFollowing(journal, 'a', 0),
      startFollowing(journal, 'a', 0),
      startFollowing(journal, 'b', 0),
    ];
    await followers[0]?.until(1);
    expect(countWatches()).toBe(before + 1);
    for (const [at, { abort, ended }] of followers.entries()) {
      expect(countWatches(), `before ${at} ends`).toBe(before + 1);
      abort.abort();
      await ended;
    }
    expect(countWatches()).toBe(before);
    const again = startFollowing(journal, 'a', 0);
    await again.until(1);
    expect(countWatches()).toBe(before + 1);
  });

  test('that was removed is replaced by a writer, and heard', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const [reader, writer] = [openFile(path, BELL_ONLY), openFile(path)];
    await fill(writer, 'a', 1);
    const follower = startFollowing(reader, 'a', 0);
    await follower.until(1);
    rmSync(`${path}.bell`);
    await fill(writer, 'a', 2, 1);
    await follower.until(2);
    expect(existsSync(`${path}.bell`)).toBe(true);
  });

  test('is not watched by a writer that nobody follows, also when it makes another one', async (context) => {
    needOpenFiles(context);
    const path = join(temporaryFolder(), 'journal.db');
    const writer = openFile(path);
    await fill(writer, 'a', 1);
    const before = countWatches();
    rmSync(`${path}.bell`);
    await fill(writer, 'a', 2, 1);
    await until('it has made another one', () => existsSync(`${path}.bell`));
    expect(countWatches()).toBe(before);
  });

  test('is not needed: followers look often if there can be none', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    mkdirSync(`${path}.bell`);
    const [reader, writer] = [openFile(path, BELL_ONLY), openFile(path)];
    const follower = startFollowing(reader, 'a', 0);
    await fill(writer, 'a', 2);
    await follower.until(2);
    expect(follower.seen).toEqual([1, 2]);
  });
});

test('a file to which another process writes at its first opening is opened a moment later', async () => {
  const path = join(temporaryFolder(), 'journal.db');
  writeFileSync(path, '', { mode: 0o644 });
  const worker = new Worker(WRITE_DURING_OPENING, { eval: true, workerData: path });
  await new Promise((resolve) => void worker.once('message', resolve));
  const journal = openFile(path);
  expect(await journal.append('a', 0, [note('1')])).toBe(1);
  await worker.terminate();
});

/**
 * Has a transaction for writing when opening has made the file private, which comes just before it sets the journal mode.
 * The wait gives it time to be refused; if that is too short, it was not refused.
 */
const WRITE_DURING_OPENING = `
  const { statSync } = require('node:fs');
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData: path } = require('node:worker_threads');
  const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  const db = new DatabaseSync(path);
  db.exec('BEGIN IMMEDIATE');
  parentPort.postMessage('writing');
  while ((statSync(path).mode & 0o077) !== 0) wait(1);
  wait(50);
  db.exec('ROLLBACK');
  db.close();`;

describe('the file of a journal', () => {
  test('is private to its owner, like the files beside it and every folder made for it', async () => {
    const before = process.umask(0);
    onTestFinished(() => {
      process.umask(before);
    });
    const root = temporaryFolder();
    const folder = join(root, 'a', 'b');
    const journal = openFile(join(folder, 'journal.db'));
    await fill(journal, 'a', 1);
    const files = readdirSync(folder).sort();
    expect(files).toEqual(['journal.db', 'journal.db-shm', 'journal.db-wal', 'journal.db.bell', 'journal.db.owner']);
    expect(files.map((file) => modeOf(join(folder, file)))).toEqual(files.map(() => 0o600));
    expect([modeOf(join(root, 'a')), modeOf(folder)]).toEqual([0o700, 0o700]);
  });

  test('becomes private when it is opened', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await withFile(path, (journal) => fill(journal, 'a', 1));
    chmodSync(path, 0o644);
    const journal = openFile(path);
    await journal.append('a', 1, [note('2')]);
    expect([path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual([0o600, 0o600, 0o600]);
  });

  test('has a log of its full size from the start, so that commits need not extend it', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const journal = openFile(path);
    const { size } = statSync(`${path}-wal`);
    expect(size).toBeGreaterThanOrEqual(1000 * (4096 + 24));
    await fill(journal, 'a', 3);
    expect(statSync(`${path}-wal`).size).toBe(size);
    // Another one that opens it finds it so, and nothing in it.
    expect(await openFile(path).teams()).toEqual(['a']);
    expect(statSync(`${path}-wal`).size).toBe(size);
  });

  test('may exist and be empty', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    writeFileSync(path, '');
    const journal = openFile(path);
    await fill(journal, 'a', 2);
    expect(await texts(journal.read('a', 0))).toEqual(['1', '2']);
  });

  test.for([true, false])(
    'is neither open nor watched when its journal is closed (exclusive: %s)',
    async (exclusive, context) => {
      needOpenFiles(context);
      const folder = temporaryFolder();
      const before = countWatches();
      const journal = sqliteJournal(join(folder, 'new', 'journal.db'), { exclusive });
      await fill(journal, 'a', 2);
      await journal.saveSnapshot('a', { seq: 1, body: 'one' });
      await journal.drop('a');
      await journal.close();
      expect([openFilesIn(folder), countWatches()]).toEqual([[], before]);
    },
  );

  test('keeps everything when it is closed and opened again', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await withFile(path, async (journal) => {
      await fill(journal, 'a', 3);
      await journal.saveSnapshot('a', { seq: 2, body: 'two' });
    });
    expect(existsSync(`${path}-wal`)).toBe(false);
    const journal = openFile(path);
    expect(await texts(journal.read('a', 0))).toEqual(['1', '2', '3']);
    expect(await journal.loadSnapshot('a')).toEqual({ seq: 2, body: 'two' });
    expect(await journal.append('a', 3, [note('4')])).toBe(4);
  });
});

describe('opening', () => {
  test('refuses a symbolic link, even to a journal', async () => {
    const folder = temporaryFolder();
    await withFile(join(folder, 'journal.db'), (journal) => fill(journal, 'a', 1));
    symlinkSync(join(folder, 'journal.db'), join(folder, 'link.db'));
    symlinkSync(join(folder, 'nowhere.db'), join(folder, 'dangling.db'));
    refuses(join(folder, 'link.db'), 'corrupt', 'symbolic link');
    refuses(join(folder, 'dangling.db'), 'corrupt', 'symbolic link');
    expect(existsSync(join(folder, 'nowhere.db'))).toBe(false);
  });

  test('refuses a folder', () => {
    const path = join(temporaryFolder(), 'journal.db');
    mkdirSync(path);
    refuses(path, 'corrupt', 'not a regular file');
  });

  test('refuses a path with a file as folder', () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, 'x');
    refuses(join(path, 'journal.db'), 'storage', 'Cannot open the journal in ');
  });

  test.each([
    ['a text', Buffer.from('Dear diary,\n'.repeat(1000))],
    ['random bytes', Buffer.from(Array.from({ length: 8192 }, (_, i) => (i * 7919) % 256))],
  ])('refuses %s and leaves it unchanged', (_, content) => {
    const folder = temporaryFolder();
    const path = join(folder, 'journal.db');
    writeFileSync(path, content);
    chmodSync(path, 0o644);
    refuses(path, 'corrupt', 'Restore it from a copy');
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(modeOf(path)).toBe(0o644);
    expect(readdirSync(folder)).toEqual(['journal.db']);
  });

  test('refuses the database of another program and leaves it unchanged', () => {
    const path = join(temporaryFolder(), 'journal.db');
    edit(path, 'CREATE TABLE teams (id INTEGER PRIMARY KEY, name TEXT); PRAGMA user_version = 1');
    chmodSync(path, 0o640);
    const before = readFileSync(path);
    refuses(path, 'corrupt', 'another program');
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(modeOf(path)).toBe(0o640);
  });

  test('refuses the journal of a newer version and leaves it unchanged', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await withFile(path, (journal) => fill(journal, 'a', 1));
    edit(path, 'PRAGMA user_version = 99; CREATE TABLE something_new (id)');
    const before = readFileSync(path);
    refuses(path, 'unsupported', 'newer Troupe (schema 99');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('refuses a journal that lacks a table', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await withFile(path, (journal) => fill(journal, 'a', 1));
    edit(path, 'DROP TABLE batches');
    refuses(path, 'corrupt', 'Restore it from a copy');
  });

  test('works with any path, even one that looks like an address', async () => {
    for (const name of ['file:x?mode=memory', ':memory:', 'with space #1 %20.db', 'ä🎭.db']) {
      const path = join(temporaryFolder(), name);
      await withFile(path, (journal) => fill(journal, 'a', 1));
      expect(statSync(path).size).toBeGreaterThan(0);
    }
  });
});

function refuses(path: string, code: string, text: string): void {
  expect(() => sqliteJournal(path)).toThrow(error(code));
  expect(() => sqliteJournal(path)).toThrow(text);
}

function edit(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}
