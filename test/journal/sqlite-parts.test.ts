import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findDamage, isWorthChecking } from '../../src/journal/sqlite/check.ts';
import { isBusy, isCantOpen, isCorrupt, isFailedWrite } from '../../src/journal/sqlite/errors.ts';
import { openFollowers } from '../../src/journal/sqlite/follow.ts';
import { isCurrent, migrate } from '../../src/journal/sqlite/migrate.ts';
import { inspectFile, refuseForeign } from '../../src/journal/sqlite/open.ts';
import { decodeRow, prepareRows, readEnds } from '../../src/journal/sqlite/rows.ts';
import type { Rows } from '../../src/journal/sqlite/rows.ts';
import { groupWriter } from '../../src/journal/sqlite/writer.ts';
import type { Job, WriterOptions } from '../../src/journal/sqlite/writer.ts';
import { needOpenFiles, openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const MEGABYTE = 1024 * 1024;

function openMemory(): { db: DatabaseSync; rows: Rows } {
  const db = new DatabaseSync(':memory:');
  onTestFinished(() => db.close());
  migrate(db, 'x.db');
  return { db, rows: prepareRows(db, 'x.db') };
}

test('a file is checked up to a size, which is larger after a crash', () => {
  const path = join(temporaryFolder(), 'file');
  writeFileSync(path, '');
  const isWorth = (bytes: number, wasClosed: boolean): boolean => {
    truncateSync(path, bytes);
    return isWorthChecking(path, { wasClosed });
  };
  expect([isWorth(32 * MEGABYTE, true), isWorth(32 * MEGABYTE + 1, true)]).toEqual([true, false]);
  expect([isWorth(256 * MEGABYTE, false), isWorth(256 * MEGABYTE + 1, false)]).toEqual([true, false]);
});

test('damage is only what SQLite calls so', () => {
  const { db } = openMemory();
  expect(findDamage(db, { whole: true, ends: true })).toBeUndefined();
  const closed = new DatabaseSync(':memory:');
  closed.close();
  expect(() => findDamage(closed, { whole: true })).toThrow('not open');
});

test('the codes of SQLite say what is wrong, also with more about it', () => {
  const told = (is: (error: unknown) => boolean) =>
    [5, 6, 8, 10, 11, 13, 14, 26, 266, 1544].filter((errcode) => is({ errcode }));
  expect(told(isBusy)).toEqual([5, 6]);
  expect(told(isCantOpen)).toEqual([14, 1544]);
  expect(told(isFailedWrite)).toEqual([10, 13, 266]);
  expect(told(isCorrupt)).toEqual([11, 26]);
  expect([isBusy({}), isBusy('text'), isBusy(undefined)]).toEqual([false, false, false]);
});

test('a database is current, new, of another program, or of a newer version', () => {
  const { db } = openMemory();
  expect(isCurrent(db, 'x.db')).toBe(true);
  db.exec('PRAGMA user_version = 2');
  expect(() => isCurrent(db, 'x.db')).toThrow('was written by a newer Troupe (schema 2');
  const other = new DatabaseSync(':memory:');
  onTestFinished(() => other.close());
  expect(isCurrent(other, 'x.db')).toBe(false);
  other.exec('CREATE TABLE one (x)');
  expect(() => isCurrent(other, 'x.db')).toThrow('x.db is the database of another program');
});

describe('a file that is refused before it is opened', () => {
  const refusal = (path: string): string => {
    try {
      refuseForeign(path);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  test('is of another program, or lost what its log had', () => {
    const path = join(temporaryFolder(), 'journal.db');
    writeFileSync(`${path}-wal`, 'x');
    expect(refusal(path)).toBe('');
    writeFileSync(path, '');
    expect(refusal(path)).toMatch(/is empty, and its log .*-wal is not/);
    const other = join(temporaryFolder(), 'other.db');
    const db = new DatabaseSync(other);
    db.exec('CREATE TABLE one (x)');
    db.close();
    expect(refusal(other)).toMatch(/is the database of another program/);
  });

  test('is no regular file', () => {
    const folder = temporaryFolder();
    expect(refusal(folder)).toBe(`${folder} is not a regular file. Give the path of the journal's own file.`);
    symlinkSync('nowhere', join(folder, 'link'));
    expect(refusal(join(folder, 'link'))).toMatch(/link is a symbolic link\./);
  });

  test('is left for opening if it cannot be read', () => {
    const path = join(temporaryFolder(), 'missing', 'journal.db');
    expect(refusal(path)).toBe('');
  });

  test('is closed after it was looked at', (context) => {
    needOpenFiles(context);
    const path = join(temporaryFolder(), 'journal.db');
    const db = new DatabaseSync(path);
    migrate(db, path);
    db.close();
    expect(inspectFile(path)).toBeUndefined();
    expect(refusal(path)).toBe('');
    expect(openFilesIn(dirname(path))).toEqual([]);
  });
});

describe('followers', () => {
  /** Followers of a database whose version the test decides, and how often it was read. */
  function openFollowing(pollMs: number) {
    const told = { version: 1, reads: 0 };
    const get = () => ({ data_version: (told.reads++, told.version) });
    const db = { prepare: () => ({ get }) } as unknown as DatabaseSync;
    const path = join(temporaryFolder(), 'journal.db');
    const followers = openFollowers(db, path, { exclusive: false, pollMs });
    let isClosed = false;
    const close = (): void => {
      if (!isClosed) followers.close();
      isClosed = true;
    };
    onTestFinished(close);
    return { told, followers, path, close };
  }

  test('are woken once for each change of others', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { told, followers } = openFollowing(100);
    let woken = 0;
    const stop = followers.listen('alpha', () => woken++);
    vi.advanceTimersByTime(200);
    expect([told.reads, woken]).toEqual([3, 0]);
    told.version++;
    vi.advanceTimersByTime(300);
    expect([told.reads, woken]).toEqual([6, 1]);
    stop();
    vi.advanceTimersByTime(300);
    expect(told.reads).toBe(6);
  });

  test('look when the bell rings, and are woken if others have changed something', async () => {
    const { told, followers, path } = openFollowing(3_600_000);
    let woken = 0;
    followers.listen('alpha', () => woken++);
    writeFileSync(`${path}.bell`, '!');
    await until('they have looked', () => told.reads > 1);
    expect(woken).toBe(0);
    told.version++;
    writeFileSync(`${path}.bell`, '!');
    await until('they are woken', () => woken > 0);
    expect(woken).toBe(1);
  });

  test('of teams that this process changed are woken once, at the end of the turn', async () => {
    const { followers, close } = openFollowing(3_600_000);
    const woken: string[] = [];
    for (const team of ['alpha', 'beta']) followers.listen(team, () => woken.push(team));
    followers.announce('alpha');
    followers.announce('alpha');
    expect(woken).toEqual([]);
    await nextTurn();
    await nextTurn();
    expect(woken).toEqual(['alpha']);
    close();
    expect(woken).toEqual(['alpha', 'alpha', 'beta']);
  });
});

describe('the rows of a file', () => {
  test('are the batches of each team, in order', () => {
    const { db, rows } = openMemory();
    const alpha = rows.addTeam('alpha', '["1"]') ?? 0;
    const beta = rows.addTeam('beta', '["b"]') ?? 0;
    expect([rows.addTeam('alpha', '[]'), rows.findTeam('alpha'), rows.findTeam('none')]).toEqual([
      undefined,
      alpha,
      undefined,
    ]);
    const added = [0, 2, 1, 1, 1.5, -1, 2 ** 32 - 1].map((expected) => rows.addBatch(alpha, expected, '["2"]'));
    expect(added).toEqual([false, false, true, false, false, false, false]);
    expect([rows.findEnd(alpha), rows.findEnd(beta), rows.findEnd(99)]).toEqual([2, 1, 0]);
    const page = rows.readPage(alpha, 0, Infinity);
    expect(page.rows.map((row, at) => decodeRow(row, at + 1, 'alpha', 'x.db'))).toEqual([
      { seq: 1, events: ['1'] },
      { seq: 2, events: ['2'] },
    ]);
    expect(rows.readPage(alpha, 1, 2).rows.map(({ seq }) => seq)).toEqual([2]);
    expect(rows.readPage(alpha, 0, 1).rows.map(({ seq }) => seq)).toEqual([1]);
    expect(Object.fromEntries(readEnds(db))).toEqual({ alpha: 2, beta: 1 });
    expect([rows.deleteTeam('none'), rows.deleteTeam('alpha'), rows.deleteTeam('alpha')]).toEqual([false, true, false]);
    expect([rows.hasTeam(alpha), rows.hasTeam(beta), rows.findEnd(alpha), rows.findEnd(beta)]).toEqual([
      false,
      true,
      0,
      1,
    ]);
    expect(rows.listTeams()).toEqual(['beta']);
  });

  test('come in pages of 512, or of a megabyte', () => {
    const { rows } = openMemory();
    const many = rows.addTeam('many', '[]') ?? 0;
    for (let seq = 1; seq < 513; seq++) rows.addBatch(many, seq, '[]');
    const sizeOf = (team: number, after: number, end = Infinity) => {
      const page = rows.readPage(team, after, end);
      return [page.rows.length, page.isFull];
    };
    expect([sizeOf(many, 0), sizeOf(many, 1), sizeOf(many, 2), sizeOf(many, 0, 511)]).toEqual([
      [512, true],
      [512, true],
      [511, false],
      [511, false],
    ]);
    const large = rows.addTeam('large', 'x'.repeat(MEGABYTE - 1)) ?? 0;
    for (let seq = 1; seq < 3; seq++) rows.addBatch(large, seq, 'x');
    expect([sizeOf(large, 0), sizeOf(large, 1)]).toEqual([
      [2, true],
      [2, false],
    ]);
  });

  test('have the newest snapshot of each team', () => {
    const { rows } = openMemory();
    const team = rows.addTeam('alpha', '[]') ?? 0;
    for (let seq = 1; seq < 4; seq++) rows.addBatch(team, seq, '[]');
    const put = (seq: number, body: string) => {
      rows.putSnapshot('alpha', team, { seq, body });
      return rows.findSnapshot(team);
    };
    expect(rows.findSnapshot(team)).toBeUndefined();
    expect(put(5, 'beyond')).toBeUndefined();
    expect(put(2, 'two')).toEqual({ seq: 2, body: 'two' });
    expect(put(1, 'one')).toEqual({ seq: 2, body: 'two' });
    expect(put(2, 'again')).toEqual({ seq: 2, body: 'again' });
    expect(put(4, 'four')).toEqual({ seq: 4, body: 'four' });
  });

  test('that a snapshot shows to be lost are named', () => {
    const { db, rows } = openMemory();
    const team = rows.addTeam('alpha', '[]') ?? 0;
    for (let seq = 1; seq < 3; seq++) rows.addBatch(team, seq, '[]');
    rows.putSnapshot('alpha', team, { seq: 3, body: 'three' });
    rows.requireEnd('alpha', team);
    const lose = (seq: number) => db.exec(`DELETE FROM batches WHERE id = ${team} * 4294967296 + ${seq}`);
    lose(3);
    expect(() => rows.requireEnd('alpha', team)).toThrow('batch 3 is lost; its snapshot of batch 3 shows');
    expect(() => rows.putSnapshot('alpha', team, { seq: 2, body: 'two' })).toThrow('batch 3 is lost');
    lose(2);
    expect(() => rows.requireEnd('alpha', team)).toThrow('batches 2 to 3 are lost');
    db.exec('DELETE FROM snapshots');
    rows.requireEnd('alpha', team);
    lose(1);
    expect(() => rows.requireEnd('alpha', team)).toThrow(
      'Batch 1 of team "alpha" in x.db cannot be read: it is missing',
    );
    // A team that is not there has lost nothing.
    rows.requireEnd('none', 99);
  });

  test('that are damaged are refused', () => {
    const { db, rows } = openMemory();
    const team = rows.addTeam('alpha', '["1"]') ?? 0;
    const [row] = rows.readPage(team, 0, 1).rows;
    if (!row) throw new Error('no row');
    expect(() => decodeRow(row, 2, 'alpha', 'x.db')).toThrow(
      'Batch 2 of team "alpha" in x.db cannot be read: it is missing',
    );
    expect(() => decodeRow({ ...row, body: '["2"]' }, 1, 'alpha', 'x.db')).toThrow('its checksum is wrong');
    expect(() => decodeRow({ ...row, body: 5 as unknown as string }, 1, 'alpha', 'x.db')).toThrow(
      'its checksum is wrong',
    );
    rows.addBatch(team, 1, 'no');
    const [, bad] = rows.readPage(team, 0, 2).rows;
    expect(() => decodeRow(bad ?? row, 2, 'alpha', 'x.db')).toThrow('it is not JSON');
    rows.putSnapshot('alpha', team, { seq: 1, body: 'one' });
    db.exec(`UPDATE snapshots SET body = 'two'`);
    expect(rows.findSnapshot(team)).toBeUndefined();
  });
});

describe('a writer', () => {
  const failure = (errcode: number) => Object.assign(new Error('failed'), { errcode });

  /** A writer, and what it does to its jobs. */
  function openWriter(more: Partial<WriterOptions> = {}) {
    const db = new DatabaseSync(':memory:');
    onTestFinished(() => db.close());
    db.exec('CREATE TABLE done (name)');
    const log: string[] = [];
    const onCommit = (team: string) => void log.push(`committed ${team}`);
    const writer = groupWriter({ db, path: 'x.db', patienceMs: 60_000, exclusive: false, onCommit, ...more });
    const insert = db.prepare('INSERT INTO done VALUES (?)');
    const write = (team: string, own: Partial<Job> = {}) =>
      writer.write({
        team,
        doing: 'append to',
        chars: 1,
        single: false,
        run() {
          log.push(`${db.isTransaction ? 'in' : 'out'} ${team}`);
          insert.run(team);
          return true;
        },
        settle: (changed) => log.push(`${changed ? 'changed' : 'same'} ${team}`),
        reject: (error) => log.push(`${team}: ${(error as Error).message}`),
        ...own,
      });
    const stored = () =>
      db
        .prepare('SELECT name FROM done')
        .all()
        .map(({ name }) => name);
    return { writer, write, log, stored };
  }

  test('does the jobs of one turn in one transaction, and tells of those that changed something', async () => {
    const { writer, write, log, stored } = openWriter();
    await writer.drained();
    write('a');
    write('b', { run: () => false });
    write('c', { single: true });
    await writer.drained();
    expect(log).toEqual(['in a', 'in c', 'changed a', 'committed a', 'same b', 'changed c', 'committed c']);
    write('d', { single: true });
    write('e');
    await writer.drained();
    expect(stored()).toEqual(['a', 'c', 'd', 'e']);
  });

  test('does a lone statement without a transaction of its own', async () => {
    const { writer, write, log } = openWriter();
    write('a', { single: true });
    await writer.drained();
    write('b', { single: true, run: () => false });
    await writer.drained();
    write('c');
    await writer.drained();
    expect(log).toEqual(['out a', 'changed a', 'committed a', 'same b', 'in c', 'changed c', 'committed c']);
  });

  test.each([true, false])('does a job after a lone one in the same turn; exclusive: %s', async (exclusive) => {
    const { writer, write, log } = openWriter({ exclusive });
    write('a');
    await writer.drained();
    log.length = 0;
    write('b');
    await Promise.resolve();
    expect(log).toContain('changed b');
    // The seventeenth waits for others again.
    for (let job = 0; job < 15; job++) {
      write('more');
      await Promise.resolve();
    }
    log.length = 0;
    write('c');
    await Promise.resolve();
    expect(log).toEqual([]);
    await nextTurn();
    await nextTurn();
    expect(log).toContain('changed c');
  });

  test.each([
    [512, [512, 88], 1],
    [3, [3, 3], (4 * MEGABYTE) / 3],
    [2, [1, 1], 4 * MEGABYTE],
  ] as const)('bounds its transactions: at most %d jobs are together', async (_, sizes, chars) => {
    const { writer, write } = openWriter();
    const groups: number[] = [];
    let group = 0;
    const settle = () => {
      if (group++ === 0) queueMicrotask(() => groups.push(group) && (group = 0));
    };
    const all = sizes.reduce<number>((sum, size) => sum + size, 0);
    for (let job = 0; job < all; job++) write('a', { chars: Math.floor(chars), settle });
    await writer.drained();
    await nextTurn();
    expect(groups).toEqual(sizes);
  });

  test('fails all jobs of a transaction, each with its own name', async () => {
    const { writer, write, log, stored } = openWriter();
    write('a');
    write('b', {
      doing: 'drop',
      run() {
        throw failure(8);
      },
    });
    await writer.drained();
    expect(log).toEqual([
      'in a',
      expect.stringMatching(/^a: Cannot append to team "a" in x\.db: it is read-only/),
      expect.stringMatching(/^b: Cannot drop team "b" in x\.db: it is read-only/),
    ]);
    expect(stored()).toEqual([]);
    write('c');
    await writer.drained();
    expect(stored()).toEqual(['c']);
  });

  test('does the jobs beside a damaged one, each alone', async () => {
    const { writer, write, log, stored } = openWriter();
    const run = (): boolean => {
      throw failure(11);
    };
    write('a');
    write('b', { run });
    write('c');
    await writer.drained();
    expect(stored()).toEqual(['a', 'c']);
    expect(log.filter((line) => line.startsWith('b'))).toEqual([
      expect.stringMatching(/^b: Cannot append to team "b" in x\.db: the file is damaged/),
    ]);
    expect(log.slice(-3)).toEqual(['in c', 'changed c', 'committed c']);
  });

  test('tries again while another process holds the file', async () => {
    const { writer, write, stored } = openWriter();
    let tries = 0;
    write('a', {
      run() {
        if (++tries < 3) throw failure(5);
        return true;
      },
    });
    write('b');
    await writer.drained();
    expect([tries, stored()]).toEqual([3, ['b']]);
  });

  test('is as patient after a success, or a failure, as at first', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { writer, write, log } = openWriter({ patienceMs: 1_000 });
    /** A job that finds the file locked, once or always. */
    const busy = (team: string, isAlways: boolean) => {
      let isLocked = true;
      const run = (): boolean => {
        if (!isLocked) return true;
        isLocked = isAlways;
        vi.advanceTimersByTime(600);
        throw failure(5);
      };
      write(team, { run });
      return writer.drained();
    };
    for (const team of ['a', 'b']) await busy(team, false);
    await busy('c', true);
    await busy('d', false);
    expect(log.filter((line) => !line.startsWith('committed'))).toEqual([
      'changed a',
      'changed b',
      expect.stringMatching(/^c: .* another process holds the file/),
      'changed d',
    ]);
  });

  test('fails jobs when its patience is over', async () => {
    const { writer, write, log } = openWriter({ patienceMs: 0 });
    write('a', {
      run() {
        throw failure(6);
      },
    });
    await writer.drained();
    expect(log).toEqual([expect.stringMatching(/^a: .* another process holds the file/)]);
  });
});
