import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import type { SqliteJournalOptions } from '../../src/journal/sqlite.ts';
import { error, fill, nextTurn, note, startFollowing, texts } from '../contracts/journal/notes.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('waiting appends', () => {
  test.each([false, true])('of all teams share one transaction (exclusive: %s)', async (exclusive) => {
    const { journal, path } = open({ exclusive });
    await fill(journal, 'team-0', 1);
    const before = countCommits(path);
    const teams = Array.from({ length: 200 }, (_, i) => `team-${i}`);
    const appended = await Promise.allSettled(teams.map((team) => journal.append(team, 0, [note('1')])));
    expect(appended.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(countCommits(path) - before).toBe(1);
  });

  test('of one team may build on each other', async () => {
    const { journal, path } = open();
    const before = countCommits(path);
    const appended = Array.from({ length: 100 }, (_, i) => journal.append('a', i, [note(String(i))]));
    expect(await Promise.all(appended)).toEqual(appended.map((_, i) => i + 1));
    expect(countCommits(path) - before).toBe(1);
  });

  test('share transactions of bounded length and size', async () => {
    const { journal, path } = open();
    let before = countCommits(path);
    await Promise.all(Array.from({ length: 1_100 }, (_, i) => journal.append(`team-${i}`, 0, [note('1')])));
    expect(countCommits(path) - before).toBe(3);
    before = countCommits(path);
    const large = 'x'.repeat(1_500_000);
    await Promise.all(Array.from({ length: 4 }, (_, i) => journal.append(`large-${i}`, 0, [note(large)])));
    expect(countCommits(path) - before).toBe(2);
  });

  test('may each be larger than a transaction should be', async () => {
    const { journal } = open();
    const large = 'x'.repeat(5_000_000);
    const appended = ['a', 'b', 'c'].map((team) => journal.append(team, 0, [note(large)]));
    expect(await Promise.all(appended)).toEqual([1, 1, 1]);
  });

  test('do not block the event loop, however many there are', async () => {
    const { journal } = open();
    let turns = 0;
    let running = true;
    const count = () => {
      turns++;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    await fill(journal, 'a', 200);
    running = false;
    expect(turns).toBeGreaterThan(5);
  });
});

test('reading many batches gives other code its turns', async () => {
  const { journal } = open();
  await journal.restore?.(
    'a',
    Array.from({ length: 1_200 }, () => [note('x')]),
  );
  let turns = 0;
  let running = true;
  onTestFinished(() => void (running = false));
  const count = () => {
    turns++;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  expect(await texts(journal.read('a', 0))).toHaveLength(1_200);
  expect(turns).toBeGreaterThan(0);
  turns = 0;
  const follower = startFollowing(journal, 'a', 0);
  await follower.until(1_200);
  expect(turns).toBeGreaterThan(0);
});

describe('a file with an exclusive owner', () => {
  test('is written in the same turn of the event loop as the call', async () => {
    const { journal } = open({ exclusive: true });
    await fill(journal, 'a', 1);
    let isLater = false;
    setImmediate(() => (isLater = true));
    await Promise.all([journal.append('a', 1, [note('2')]), journal.append('b', 0, [note('1')])]);
    expect(isLater).toBe(false);
  });

  test('can be followed in the same process', async () => {
    const { journal } = open({ exclusive: true });
    await fill(journal, 'a', 1);
    const stop = new AbortController();
    const following = journal.follow('a', 1, stop.signal)[Symbol.asyncIterator]();
    const next = following.next();
    await journal.append('a', 1, [note('2')]);
    expect(await next).toMatchObject({ done: false, value: { seq: 2 } });
    stop.abort();
    await following.return?.();
  });
});

describe('a file that another process has locked', () => {
  test('makes appends wait without blocking the event loop', async () => {
    const { journal, path } = open();
    await fill(journal, 'a', 1);
    const release = lock(path);
    const appended = journal.append('a', 1, [note('2')]);
    const other = journal.append('b', 0, [note('1')]);
    let ticks = 0;
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (++ticks < 20) return;
        clearInterval(timer);
        resolve();
      }, 5);
    });
    // Reading needs no lock.
    expect(await texts(journal.read('a', 0))).toEqual(['1']);
    release();
    expect(await Promise.all([appended, other])).toEqual([2, 1]);
  });

  test('fails appends after the patience, with nothing written', async () => {
    const { journal, path } = open({ patienceMs: 100 });
    await fill(journal, 'a', 1);
    const release = lock(path);
    const calls = [
      journal.append('a', 1, [note('x')]),
      journal.append('b', 0, [note('x')]),
      journal.saveSnapshot('a', { seq: 1, body: 'x' }),
      journal.drop('a'),
      journal.restore!('c', [[note('x')]]),
    ];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: error('storage') });
    }
    const doing = ['append to', 'append to', 'save a snapshot of', 'drop', 'restore'];
    for (const [at, team] of ['a', 'b', 'a', 'a', 'c'].entries()) {
      await expect(calls[at]).rejects.toThrow(
        new RegExp(`^Cannot ${doing[at]} team "${team}" in .*: another process holds the file`),
      );
    }
    release();
    expect(await journal.teams()).toEqual(['a']);
    expect(await journal.append('a', 1, [note('2')])).toBe(2);
  });

  test('does not keep close from finishing waiting appends', async () => {
    const { journal, path } = open();
    const release = lock(path);
    const appended = journal.append('a', 0, [note('1')]);
    // It has tried, and waits for its next turn.
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    const closed = journal.close();
    await expect(journal.append('a', 1, [note('2')])).rejects.toMatchObject(error('storage'));
    setImmediate(release);
    await closed;
    expect(await appended).toBe(1);
  });
});

describe('a team that was dropped and made again', () => {
  test('is a different team for handles of the first, even with the same number of batches', async () => {
    const { journal, path } = open();
    const other = sqliteJournal(path);
    onTestFinished(() => other.close());
    await fill(journal, 'a', 5);
    await other.drop('a');
    await fill(other, 'a', 5);
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(journal.append('a', 5, [note('lost')])).rejects.toMatchObject(error('journal_conflict'));
      expect(await texts(journal.read('a', 5))).toEqual([]);
      await journal.saveSnapshot('a', { seq: 5, body: 'of the first' });
    }
    expect(await other.loadSnapshot('a')).toBeUndefined();
    // Reading from the start makes the handle use the new team.
    expect(await texts(journal.read('a', 0))).toHaveLength(5);
    expect(await journal.append('a', 5, [note('6')])).toBe(6);
  });
});

describe('a batch', () => {
  test('never goes to the team whose keys come before or after', async () => {
    const { journal } = open();
    for (const team of ['a', 'b', 'c']) await fill(journal, team, 3);
    for (const expected of [3 - 2 ** 32, 2 ** 32 + 3, 2 ** 32 - 1, 2.5]) {
      await expect(journal.append('b', expected, [note('x')])).rejects.toMatchObject(error('journal_conflict'));
    }
    for (const team of ['a', 'b', 'c']) expect(await texts(journal.read(team, 0))).toEqual(['1', '2', '3']);
  });
});

describe('a name', () => {
  test('with half a surrogate pair is refused, because SQLite would confuse it with others', async () => {
    const { journal } = open();
    await expect(journal.append('a\ud800', 0, [note('1')])).rejects.toMatchObject(error('invalid'));
    await expect(texts(journal.read('a\ud800', 0))).rejects.toMatchObject(error('invalid'));
  });
});

function open(options?: SqliteJournalOptions): { journal: Journal; path: string } {
  const path = join(temporaryFolder(), 'journal.db');
  const journal = sqliteJournal(path, options);
  onTestFinished(() => journal.close());
  return { journal, path };
}

/** Holds the lock for writing, as another process would. */
function lock(path: string): () => void {
  const db = new DatabaseSync(path);
  db.exec('BEGIN IMMEDIATE');
  return () => db.close();
}

/** Counts transactions in the log: a frame with the database size in its header ends one. See sqlite.org/fileformat */
function countCommits(path: string): number {
  const log = readFileSync(`${path}-wal`);
  const salt = log.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at + 24 <= log.length; at += 24 + 4096) {
    if (log.subarray(at + 8, at + 16).equals(salt) && log.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
}
