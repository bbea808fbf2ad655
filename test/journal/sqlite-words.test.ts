import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fileAddress, pathInAddress } from '../../src/journal/file-address.ts';
import { tryKernelLock } from '../../src/journal/kernel-lock.ts';
import { forgetInMark, keepMark, nameLost, readMark } from '../../src/journal/mark.ts';
import { loadSqlite } from '../../src/journal/node-sqlite.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { toTeamError } from '../../src/journal/sqlite/errors.ts';
import { findLost } from '../../src/journal/sqlite/lost.ts';
import { inspectFile, refuseForeign } from '../../src/journal/sqlite/open.ts';
import { nextTurn, note } from '../contracts/journal/notes.ts';
import { openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

test('a Node without SQLite is told which version is needed; warnings that concern a person are shown', async () => {
  const warned = new Promise<Error>((resolve) => void process.once('warning', resolve));
  const load = (): undefined => {
    process.emitWarning('SQLite is an experimental feature', 'ExperimentalWarning');
    process.emitWarning('something else');
  };
  expect(() => loadSqlite(load)).toThrow(/^Troupe needs Node 22\.13 or newer, and this is Node \d/);
  expect((await warned).message).toBe('something else');
});

test('the address of a journal in a file holds its path, whatever that is', () => {
  for (const path of ['/a/b.db', 'b.db', '/with\nline']) expect(pathInAddress(fileAddress(path))).toBe(path);
  expect(pathInAddress('sqlite:///a/b.db')).toBe('/a/b.db');
  for (const other of ['sqlite', 'sqlite:', 'nats://a', 'my sqlite:x']) expect(pathInAddress(other)).toBeUndefined();
});

describe('a refusal of SQLite or the file system', () => {
  const failed = (code: object) => Object.assign(new Error('so it is'), code);
  const message = 'no such table: batches';

  test.each<[object, RegExp]>([
    [{ errcode: 11 }, /damaged or no journal/],
    [{ errcode: 26 }, /damaged or no journal/],
    [{ errcode: 1, message }, /damaged or no journal/],
    [{ code: 'ERR_OUT_OF_RANGE' }, /damaged or no journal/],
    [{ errcode: 13 }, /disk is full/],
    [{ code: 'ENOSPC' }, /disk is full/],
    [{ code: 'EDQUOT' }, /disk is full/],
    [{ errcode: 5 }, /another process holds the file/],
    [{ errcode: 6 }, /another process holds the file/],
    [{ errcode: 8 }, /read-only/],
    [{ code: 'EROFS' }, /read-only/],
    [{ code: 'EACCES' }, /read-only/],
    [{ code: 'EPERM' }, /read-only/],
    // Extended: a read that failed.
    [{ errcode: 10 + 256 }, /disk reported an error/],
    [{ code: 'EMFILE' }, /: so it is\.$/],
    [{ errcode: 21 }, /: so it is\.$/],
    [{ errcode: 1 }, /: so it is\.$/],
    [{ message, errcode: 21 }, /: no such table: batches\.$/],
  ])('says what to do: %j', (code, message) => {
    expect((toTeamError(failed(code), '/x', 'read') as Error).message).toMatch(message);
  });

  test.each([new Error('ours'), failed({ code: 7 }), failed({ errcode: 'x' }), 'text', undefined])(
    'that is none of theirs stays as it is: %s',
    (error) => {
      expect(toTeamError(error, '/x', 'read')).toBe(error);
    },
  );
});

describe('a lock', () => {
  const wait = { shared: false, patienceMs: 0 };

  test('is held by one; a file that somebody wrote into is emptied, and kept once', () => {
    const path = join(temporaryFolder(), 'lock');
    for (const text of ['first', 'second']) {
      writeFileSync(path, text);
      const lock = tryKernelLock(path);
      expect(lock?.isInPlace()).toBe(true);
      expect(tryKernelLock(path)).toBeUndefined();
      expect(tryKernelLock(path, { shared: true })).toBeUndefined();
      lock?.release();
      expect(readFileSync(`${path}.moved`, 'utf8')).toBe('first');
    }
  });

  test('is in place until its file is removed or replaced', () => {
    const path = join(temporaryFolder(), 'lock');
    const lock = tryKernelLock(path);
    onTestFinished(() => lock?.release());
    rmSync(path);
    expect(lock?.isInPlace()).toBe(false);
    writeFileSync(path, '');
    expect(lock?.isInPlace()).toBe(false);
  });

  test('needs a regular file, in a folder that is there', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'lock'));
    expect(() => tryKernelLock(join(folder, 'lock'), wait)).toThrow('not a regular file');
    expect(() => tryKernelLock(join(folder, 'no', 'lock'), wait)).toThrow('ENOENT');
  });

  test('leaves a file as it is if its content cannot be copied, or is a damaged database', () => {
    // With the end of the copy's name it is too long for the file system.
    const text = join(temporaryFolder(), 'f'.repeat(250));
    writeFileSync(text, 'text');
    expect(() => tryKernelLock(text, wait)).toThrow('ENAMETOOLONG');
    expect(readFileSync(text, 'utf8')).toBe('text');
    const path = join(temporaryFolder(), 'database');
    const db = new DatabaseSync(path);
    db.exec('CREATE TABLE one (x)');
    db.close();
    const damaged = readFileSync(path).fill(0xa5, 100, 200);
    writeFileSync(path, damaged);
    expect(() => tryKernelLock(path, { shared: true })).toThrow('malformed');
    expect(readFileSync(path).equals(damaged)).toBe(true);
  });
});

describe('a mark', () => {
  test('forgets teams, and names at most three that are lost', () => {
    const path = join(temporaryFolder(), 'mark');
    const mark = keepMark(
      path,
      new Map([
        ['alpha', 1],
        ['beta', 2],
      ]),
      { everyMs: 60_000 },
    );
    mark.forget('nobody');
    mark.forget('alpha');
    mark.close();
    expect([...readMark(path)]).toEqual([['beta', 2]]);
    forgetInMark(path, 'nobody');
    expect([...readMark(path)]).toEqual([['beta', 2]]);
    forgetInMark(path, 'beta');
    expect([...readMark(path)]).toEqual([]);
    const lost = ['a', 'b', 'c', 'd'].map((team) => ({ team, seq: 1, now: 0 }));
    expect(nameLost(lost)).toMatch(/"c" had 1 batch and is gone; and 1 more teams$/);
    expect(nameLost(lost.slice(0, 3))).toMatch(/"c" had 1 batch and is gone$/);
    expect(nameLost([{ team: 'a', seq: 2, now: 1 }])).toBe('team "a" had 2 batches and ends at batch 1');
    if (existsSync('/proc/self/fd')) expect(openFilesIn(dirname(path))).toEqual([]);
  });

  test('says nothing about another journal', () => {
    const path = join(temporaryFolder(), 'mark');
    keepMark(path, new Map([['alpha', 1]]), { everyMs: 60_000, of: 'nats://a' }).close();
    const teams = ['nats://a', 'nats://b', undefined].map((of) => [...readMark(path, of).keys()]);
    expect(teams).toEqual([['alpha'], [], []]);
  });
});

describe('a mark that is written', () => {
  test('once stays as it is while nothing changes, also when it closes', () => {
    const path = join(temporaryFolder(), 'mark');
    const present = new Map([['alpha', 1]]);
    keepMark(path, present, { everyMs: 60_000 }).close();
    // Each write makes another file.
    const { ino } = statSync(path);
    const mark = keepMark(path, present, { everyMs: 60_000 });
    mark.forget('nobody');
    mark.close();
    forgetInMark(path, 'nobody');
    expect(statSync(path).ino).toBe(ino);
  });

  test('when it closes has what came last, and is not written again', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const path = join(temporaryFolder(), 'mark');
    const mark = keepMark(path, new Map([['alpha', 1]]), { everyMs: 60_000 });
    for (const end of [2, 3]) mark.reached('alpha', end);
    expect(vi.getTimerCount()).toBe(1);
    mark.close();
    expect(vi.getTimerCount()).toBe(0);
    expect([...readMark(path)]).toEqual([['alpha', 3]]);
  });

  test('when it closes has what another thread was writing', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const path = join(temporaryFolder(), 'mark');
    const mark = keepMark(path, new Map([['alpha', 1]]), { everyMs: 60_000 });
    mark.reached('alpha', 2);
    vi.runAllTimers();
    mark.close();
    expect([...readMark(path)]).toEqual([['alpha', 2]]);
  });

  test('in the background does not bring back a team that was dropped meanwhile', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'mark');
    const present = new Map([
      ['alpha', 1],
      ['beta', 1],
    ]);
    const mark = keepMark(path, present, { everyMs: 0 });
    mark.reached('beta', 2);
    while (readdirSync(folder).length === 1) await nextTurn();
    mark.forget('alpha');
    await until('its draft is gone', () => readdirSync(folder).length === 1);
    expect([...readMark(path)]).toEqual([['beta', 2]]);
    mark.close();
    if (existsSync('/proc/self/fd')) expect(openFilesIn(folder)).toEqual([]);
  });

  test('in vain is removed, because it would name a team that was dropped', () => {
    const path = join(temporaryFolder(), 'mark');
    keepMark(path, new Map([['alpha', 1]]), { everyMs: 60_000 }).close();
    mkdirSync(`${path}.tmp`);
    forgetInMark(path, 'alpha');
    expect(existsSync(path)).toBe(false);
  });
});

describe('looking at a file', () => {
  test('that is not there makes none', () => {
    const folder = temporaryFolder();
    refuseForeign(join(folder, 'journal.sqlite'));
    expect(readdirSync(folder)).toEqual([]);
  });

  test('leaves its log as it is', async () => {
    const live = join(temporaryFolder(), 'journal.sqlite');
    const journal = sqliteJournal(live);
    onTestFinished(() => journal.close());
    await journal.append('alpha', 0, [note('1')]);
    // As after a kill: another process that closes the file would empty the log.
    const path = join(temporaryFolder(), 'journal.sqlite');
    for (const end of ['', '-wal']) copyFileSync(live + end, path + end);
    const log = readFileSync(`${path}-wal`);
    refuseForeign(path, { readOnly: true });
    expect(inspectFile(path)).toBeUndefined();
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
  });
});

describe('a file', () => {
  test('that is empty or whole has no damage', async () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    writeFileSync(path, '');
    expect(inspectFile(path)).toBeUndefined();
    const journal = sqliteJournal(path);
    onTestFinished(() => journal.close());
    await journal.append('alpha', 0, [note('1')]);
    expect(inspectFile(path)).toBeUndefined();
  });

  test('ends to be followed where the team was dropped before', async () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const [one, two] = [sqliteJournal(path), sqliteJournal(path)];
    onTestFinished(() => Promise.all([one.close(), two.close()]).then(() => undefined));
    await one.append('alpha', 0, [note('1')]);
    expect(await Array.fromAsync(two.follow('nobody', 1, AbortSignal.timeout(60_000)))).toEqual([]);
    const reading = two.read('alpha', 0)[Symbol.asyncIterator]();
    expect(await reading.next()).toMatchObject({ done: false });
    expect(await reading.next()).toMatchObject({ done: true });
  });

  test('ends to be followed within a page when the follower stops', async () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = sqliteJournal(path);
    onTestFinished(() => journal.close());
    for (let seq = 0; seq < 3; seq++) await journal.append('alpha', seq, [note('x')]);
    const end = new AbortController();
    const seen: number[] = [];
    for await (const { seq } of journal.follow('alpha', 0, end.signal)) {
      seen.push(seq);
      end.abort();
    }
    expect(seen).toEqual([1]);
  });

  test('that others share is opened whatever its mark says', async () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    await sqliteJournal(path).close();
    writeFileSync(`${path}.mark`, '{"teams":{"alpha":5}}');
    const shared = sqliteJournal(path);
    await shared.close();
    rmSync(`${path}.owner`, { force: true });
    expect(() => sqliteJournal(path, { exclusive: true })).toThrow('team "alpha" had 5 batches and is gone');
  });

  test('has lost nothing that its mark does not name as a number of batches', async () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = sqliteJournal(path);
    await journal.append('alpha', 0, [note('1')]);
    await journal.close();
    writeFileSync(`${path}.mark`, '{"teams":{"alpha":1.5,"beta":"2"}}');
    expect(findLost(path)).toEqual([]);
    writeFileSync(`${path}.mark`, '{"teams":{"alpha":2,"beta":1}}');
    expect(findLost(path)).toEqual([
      { team: 'alpha', seq: 2, now: 1 },
      { team: 'beta', seq: 1, now: 0 },
    ]);
  });

  test('with a short log beside it is opened', async () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = sqliteJournal(path);
    await journal.append('alpha', 0, [note('1')]);
    await journal.close();
    appendFileSync(`${path}-wal`, 'short');
    const again = sqliteJournal(path);
    onTestFinished(() => again.close());
    expect(await again.teams()).toEqual(['alpha']);
    expect(existsSync(path)).toBe(true);
  });
});
