import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Journal, Seq } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import type { SqliteJournal, SqliteJournalOptions } from '../../src/journal/sqlite.ts';
import { inspectFile } from '../../src/journal/sqlite/open.ts';
import { collect, error, fill, nextTurn, note, startFollowing, texts } from '../contracts/journal/notes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { withFile } from './files.ts';

/** The key of a batch of the first team. */
const FIRST_TEAM = 2 ** 32;
/** The page size of the file. */
const PAGE = 4096;

describe('a damaged batch', () => {
  test.each<[string, string, SQLInputValue[]]>([
    ['another text', `UPDATE batches SET body = replace(body, '3', '4') WHERE id = ?`, [FIRST_TEAM + 3]],
    ['another checksum', 'UPDATE batches SET sum = sum + 1 WHERE id = ?', [FIRST_TEAM + 3]],
    ['the text of its neighbour', sqlCopy('body, sum'), [FIRST_TEAM + 2, FIRST_TEAM + 3]],
    ['no JSON', 'UPDATE batches SET body = ?, sum = ? WHERE id = ?', ['[{', crc32('[{', 3), FIRST_TEAM + 3]],
    ['nothing: it is gone', 'DELETE FROM batches WHERE id = ?', [FIRST_TEAM + 3]],
  ])('with %s is reported with its team and number, and other teams keep working', async (_, sql, values) => {
    const path = join(temporaryFolder(), 'journal.db');
    const journal = open(path);
    await fill(journal, 'a', 5);
    await fill(journal, 'b', 5);
    edit(path, sql, values);

    const before = await contentOf(path);
    const seen: Seq[] = [];
    const reading = (async () => {
      for await (const { seq } of journal.read('a', 0)) seen.push(seq);
    })();
    await expect(reading).rejects.toThrow(/Batch 3 of team "a" in .*journal\.db cannot be read: .* Restore/);
    await expect(collect(journal.read('a', 2))).rejects.toMatchObject(error('corrupt'));
    await expect(collect(journal.follow('a', 0, new AbortController().signal))).rejects.toMatchObject(error('corrupt'));
    expect(seen).toEqual([1, 2]);
    expect(await contentOf(path)).toEqual(before);

    expect(await texts(journal.read('b', 0))).toEqual(['1', '2', '3', '4', '5']);
    expect(await journal.append('b', 5, [note('6')])).toBe(6);
    expect(await journal.teams()).toEqual(['a', 'b']);
  });
});

describe('a batch that is no longer a text', () => {
  test.each<[string, string]>([
    ['nothing at all', 'UPDATE batches SET body = NULL, sum = NULL WHERE id = ?'],
    ['bytes', `UPDATE batches SET body = x'00ff' WHERE id = ?`],
    ['a number', 'UPDATE batches SET body = 7 WHERE id = ?'],
    ['a checksum larger than numbers are', 'UPDATE batches SET sum = 1 << 60 WHERE id = ?'],
  ])('but %s is reported as corrupt', async (_, sql) => {
    const path = join(temporaryFolder(), 'journal.db');
    const journal = open(path);
    await fill(journal, 'a', 5);
    await fill(journal, 'b', 5);
    loosen(path, 'batches', () => edit(path, sql, [FIRST_TEAM + 3]));
    await expect(collect(journal.read('a', 0))).rejects.toMatchObject(error('corrupt'));
    await expect(collect(journal.follow('a', 2, new AbortController().signal))).rejects.toMatchObject(error('corrupt'));
    expect(await texts(journal.read('b', 0))).toEqual(['1', '2', '3', '4', '5']);
    // A process that opens the file now finds a value that SQLite would not have written.
    const again = open(path);
    await expect(collect(again.read('a', 0))).rejects.toMatchObject(error('corrupt'));
    expect(await texts(again.read('b', 0))).toEqual(['1', '2', '3', '4', '5']);
  });
});

describe('a damaged snapshot', () => {
  test.each<[string, string]>([
    ['another text', `UPDATE snapshots SET body = 'else'`],
    ['another number', 'UPDATE snapshots SET seq = 2'],
    ['a number beyond the end', 'UPDATE snapshots SET seq = 77'],
  ])('with %s is ignored, and the next one replaces it', async (_, sql) => {
    const path = join(temporaryFolder(), 'journal.db');
    const journal = open(path);
    await fill(journal, 'a', 5);
    await journal.saveSnapshot('a', { seq: 3, body: 'three' });
    edit(path, sql);
    expect(await journal.loadSnapshot('a')).toBeUndefined();
    await journal.saveSnapshot('a', { seq: 5, body: 'five' });
    expect(await journal.loadSnapshot('a')).toEqual({ seq: 5, body: 'five' });
  });
});

test('a snapshot on a damaged page is ignored, and its team can be read', async () => {
  const path = join(temporaryFolder(), 'journal.db');
  const margin = 'x'.repeat(3 * PAGE);
  await withFile(path, async (journal) => {
    await fill(journal, 'a', 3);
    await journal.saveSnapshot('a', { seq: 3, body: `${margin}the middle${margin}` });
  });
  overwritePage(path, 'the middle');
  const journal = open(path);
  expect(await journal.loadSnapshot('a')).toBeUndefined();
  expect(await texts(journal.read('a', 0))).toEqual(['1', '2', '3']);
});

describe('batches that are removed while they are read', () => {
  async function readFirst(path: string) {
    const journal = open(path);
    // As large as what is read at once.
    await journal.append('a', 0, [note('x'.repeat(1024 * 1024))]);
    await journal.append('a', 1, [note('2')]);
    const reading = journal.read('a', 0)[Symbol.asyncIterator]();
    const follower = startFollowing(journal, 'a', 0);
    await follower.until(2);
    expect(await reading.next()).toMatchObject({ value: { seq: 1 } });
    return reading;
  }

  test('with their team are the end of it', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const reading = await readFirst(path);
    await open(path).drop('a');
    expect(await reading.next()).toMatchObject({ done: true });
  });

  test('without their team are reported as missing', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const reading = await readFirst(path);
    edit(path, 'DELETE FROM batches WHERE id = ?', [FIRST_TEAM + 2]);
    await expect(reading.next()).rejects.toThrow(/Batch 2 of team "a" .* it is missing/);
  });
});

describe('missing batches at the end of a team', () => {
  test('are counted', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const journal = open(path);
    await fill(journal, 'a', 3);
    await journal.saveSnapshot('a', { seq: 3, body: 'three' });
    edit(path, 'DELETE FROM batches WHERE id = ?', [FIRST_TEAM + 3]);
    await expect(collect(journal.read('a', 0))).rejects.toThrow(/: batch 3 is lost; its snapshot of batch 3/);
  });

  test('are reported if a snapshot proves that they existed, and nothing is written', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    await withFile(path, (journal) => journal.saveSnapshot('b', { seq: 50, body: 'fifty' }));
    edit(path, 'DELETE FROM batches WHERE id > ? AND id < ?', [2 * FIRST_TEAM + 46, 3 * FIRST_TEAM], 4);

    const before = await contentOf(path);
    const journal = open(path);
    const lost = /^Team "b" in .* cannot be read: batches 47 to 50 are lost; its snapshot of batch 50 .* Restore/;
    for (const use of [
      () => collect(journal.read('b', 0)),
      () => collect(journal.read('b', 46)),
      () => collect(journal.follow('b', 0, new AbortController().signal)),
      () => journal.loadSnapshot('b'),
      () => journal.append('b', 46, [note('47')]),
      () => journal.saveSnapshot('b', { seq: 46, body: 'forty-six' }),
    ]) {
      const failure: unknown = await use().catch((reason: unknown) => reason);
      expect(failure).toEqual(error('corrupt'));
      expect((failure as Error).message).toMatch(lost);
    }
    expect(await contentOf(path)).toEqual(before);

    expect(await journal.append('a', 50, [note('51')])).toBe(51);
    // The team can still be dropped, and its name is free again.
    await journal.drop('b');
    expect(await collect(journal.read('b', 0))).toEqual([]);
    expect(await journal.append('b', 0, [note('1')])).toBe(1);
    expect(await journal.loadSnapshot('b')).toBeUndefined();
  });

  test('are reported if they are all batches of the team', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    edit(path, 'DELETE FROM batches WHERE id < ?', [2 * FIRST_TEAM], 50);
    const journal = open(path);
    await expect(collect(journal.read('a', 0))).rejects.toThrow('Batch 1 of team "a"');
    await expect(journal.append('a', 0, [note('1')])).rejects.toMatchObject(error('journal_conflict'));
    expect(await collect(journal.read('b', 0))).toHaveLength(50);
  });

  test('are not reported while another process drops the team and makes it again with a snapshot', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const [journal, other] = [open(path), open(path)];
    for (let round = 0; round < 20; round++) {
      await fill(other, 'a', 6);
      await other.saveSnapshot('a', { seq: 6, body: `round ${round}` });
      expect(await journal.loadSnapshot('a')).toEqual({ seq: 6, body: `round ${round}` });
      const changing = (async () => {
        await other.drop('a');
        await fill(other, 'a', 3);
        await other.saveSnapshot('a', { seq: 3, body: 'anew' });
      })();
      let isOver = false;
      void changing.finally(() => (isOver = true));
      while (!isOver) {
        await journal.loadSnapshot('a');
        await collect(journal.read('a', 0));
        await nextTurn();
      }
      await changing;
      expect(await collect(journal.read('a', 0))).toHaveLength(3);
      await other.drop('a');
    }
  });
});

describe('a damaged list of teams', () => {
  test.each([
    ['an index that lacks a name', 'DELETE FROM names WHERE name = ?', 'b'],
    ['an index with a name that is none', `UPDATE names SET name = 'bb' WHERE name = ?`, 'b'],
    ['an index that leads elsewhere', 'UPDATE names SET id = 1 WHERE name = ?', 'b'],
  ])('with %s hides no team, and nothing is written', async (_, sql, name) => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    const running = open(path);
    editIndex(path, sql, name);
    const journal = open(path);
    expect(await journal.teams()).toEqual(['a', 'b', 'c']);
    // This includes the handle that was open before the damage.
    for (const one of [journal, running]) {
      await expect(collect(one.read('b', 0))).rejects.toMatchObject(error('corrupt'));
    }
    await expect(journal.append('b', 0, [note('1')])).rejects.toMatchObject(error('corrupt'));
    await expect(collect(journal.read('nowhere', 0))).rejects.toMatchObject(error('corrupt'));
    expect(await collect(journal.read('a', 0))).toHaveLength(50);
  });
});

test('a list of teams that somebody removed while the file is open is reported', async () => {
  const path = join(temporaryFolder(), 'journal.db');
  const journal = open(path);
  await fill(journal, 'a', 1);
  edit(path, 'ALTER TABLE teams RENAME TO others', [], 0);
  await expect(journal.teams()).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringContaining('Cannot list the teams') as string,
  });
});

describe('a damaged page', () => {
  test('of a large file is found when it is read or inspected, and not at each opening', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    overwritePage(path, 'last of b');
    truncateSync(path, 33 * 1024 * 1024);
    const journal = open(path);
    expect(journal.damage).toBeUndefined();
    expect(await collect(journal.read('a', 0))).toHaveLength(50);
    await expect(collect(journal.read('b', 0))).rejects.toMatchObject(error('corrupt'));
    expect(inspectFile(path)).toEqual(error('corrupt'));
    await journal.close();

    // Its owner looks for the end of each team.
    const owned = open(path, { exclusive: true });
    expect(owned.damage).toEqual(error('corrupt'));
    expect(await collect(owned.read('a', 0))).toHaveLength(50);
  });

  test('in a file that also lost batches is what is reported, and the rest can be read', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await withFile(path, async (journal) => {
      for (let seq = 0; seq < 50; seq++) await journal.append('a', seq, [note(`${seq} `.repeat(200))]);
      await fill(journal, 'b', 3);
    });
    // The ends of the teams are on other pages.
    overwritePage(path, '20 20 20');
    writeFileSync(`${path}.mark`, JSON.stringify({ teams: { b: 4 } }));
    const journal = open(path, { exclusive: true });
    expect(journal.damage).toEqual(error('corrupt'));
    expect(await texts(journal.read('b', 0))).toEqual(['1', '2', '3']);
  });

  test('stops all writing to the file, and reading of the team whose batches it holds', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    overwritePage(path, 'last of b');

    const before = await contentOfTeams(path);
    const journal = open(path);
    expect(journal.damage).toEqual(error('corrupt'));
    for (const write of [
      journal.append('a', 50, [note('51')]),
      journal.append('b', 50, [note('51')]),
      journal.append('new', 0, [note('1')]),
      journal.saveSnapshot('a', { seq: 50, body: 'fifty' }),
      journal.drop('a'),
    ]) {
      await expect(write).rejects.toThrow(
        /journal\.db is damaged, and nothing is written to it: .* Restore it from a copy/,
      );
    }
    await expect(collect(journal.read('b', 0))).rejects.toMatchObject(error('corrupt'));
    expect(await collect(journal.read('a', 0))).toHaveLength(50);
    expect((await collect(journal.read('c', 10))).at(-1)?.seq).toBe(50);
    await journal.close();
    expect(await contentOfTeams(path)).toEqual(before);
  });

  test('that appears while the file is open stops only the team whose batches it holds', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    const journal = open(path);
    overwritePage(path, 'last of b');
    // In parallel, so that they would share one transaction.
    const [a, b, c, next] = await Promise.allSettled([
      journal.append('a', 50, [note('51')]),
      journal.append('b', 50, [note('51')]),
      journal.append('c', 50, [note('51')]),
      journal.append('new', 0, [note('1')]),
    ]);
    expect([a.status, b.status, c.status, next.status]).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect((b as PromiseRejectedResult).reason).toEqual(error('corrupt'));
    await expect(collect(journal.read('b', 0))).rejects.toMatchObject(error('corrupt'));
    expect(await collect(journal.read('a', 0))).toHaveLength(51);
    // Later appends share transactions again.
    const settled: string[] = [];
    const append = (team: string) => journal.append(team, 0, [note('1')]).then(() => settled.push(team));
    await append('before');
    const [first] = [append('d'), append('e'), append('f')];
    await first;
    await Promise.resolve();
    expect(settled).toEqual(['before', 'd', 'e', 'f']);
  });

  test('that is a copy of any other page is never overwritten', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    const whole = readFileSync(path);
    const pages = whole.length / PAGE;
    // Every page is replaced once by another page, as if a disk lost or misplaced a write.
    for (let at = 1; at < pages; at++) {
      const from = 1 + ((at * 7) % (pages - 1));
      const bytes = whole.subarray(from * PAGE, (from + 1) * PAGE);
      if (bytes.equals(whole.subarray(at * PAGE, (at + 1) * PAGE))) continue;
      writeFileSync(path, whole);
      overwrite(path, at * PAGE, bytes);
      const outcome = await useDamaged(path);
      expect(outcome, `page ${from} in place of ${at}`).toEqual(error('corrupt'));
    }
  });

  test('at the start of the file is found when opening', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    overwrite(path, 0, Buffer.alloc(100, 0xa5));
    const before = readFileSync(path);
    expect(() => sqliteJournal(path)).toThrow(error('corrupt'));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each([0.2, 0.5, 0.9])(
    'that is missing because the file was truncated to %d of its size never makes a team look empty',
    async (part) => {
      const path = join(temporaryFolder(), 'journal.db');
      await makeLongTeams(path);
      const file = openSync(path, 'r+');
      ftruncateSync(file, Math.floor((statSync(path).size * part) / PAGE) * PAGE);
      closeSync(file);
      const found = await Promise.allSettled(['a', 'b', 'c'].map((team) => readAll(path, team)));
      expect(found.some(({ status }) => status === 'rejected')).toBe(true);
      for (const result of found) {
        if (result.status === 'fulfilled') expect(result.value).toBe(50);
        else expect(result.reason).toEqual(error('corrupt'));
      }
    },
  );
});

/** Three teams with batches that fill several pages each. */
async function makeLongTeams(path: string): Promise<void> {
  const journal = sqliteJournal(path);
  for (const team of ['a', 'b', 'c']) {
    for (let seq = 0; seq < 49; seq++) await journal.append(team, seq, [note('x'.repeat(500))]);
    await journal.append(team, 49, [note(`last of ${team}`)]);
  }
  await journal.close();
}

async function readAll(path: string, team: string): Promise<number> {
  const journal = sqliteJournal(path);
  try {
    return (await collect(journal.read(team, 0))).length;
  } finally {
    await journal.close();
  }
}

/** Appends to three teams and to a new one. Returns the first append that succeeded, else the first refusal. */
async function useDamaged(path: string): Promise<unknown> {
  let journal: Journal;
  try {
    journal = sqliteJournal(path);
  } catch (failure) {
    return failure;
  }
  try {
    const results = await Promise.allSettled([
      ...['a', 'b', 'c'].map((team) => journal.append(team, 50, [note('51')])),
      journal.append('new', 0, [note('1')]),
    ]);
    return results.find(({ status }) => status === 'fulfilled') ?? (results[0] as PromiseRejectedResult).reason;
  } finally {
    await journal.close();
  }
}

/** Damages the page of the file that contains this text. */
function overwritePage(path: string, text: string): void {
  const at = readFileSync(path).indexOf(text);
  expect(at).toBeGreaterThan(0);
  overwrite(path, Math.floor(at / PAGE) * PAGE, Buffer.alloc(PAGE, 0xa5));
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

function sqlCopy(columns: string): string {
  return `UPDATE batches SET (${columns}) = (SELECT ${columns} FROM batches WHERE id = ?) WHERE id = ?`;
}

function edit(path: string, sql: string, values: SQLInputValue[] = [], changes = 1): void {
  const db = new DatabaseSync(path);
  expect(db.prepare(sql).run(...values).changes).toBe(changes);
  db.close();
}

/** While `work` runs, a table accepts values that SQLite would refuse. */
function loosen(path: string, table: string, work: () => void): void {
  const set = (sql: string): string => {
    const db = new DatabaseSync(path, { defensive: false });
    const before = db.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(table)?.['sql'] as string;
    db.exec('PRAGMA writable_schema = ON');
    db.prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ?').run(sql, table);
    db.close();
    return before;
  };
  const strict = set(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, body, sum)`);
  work();
  set(strict);
}

/** Changes the index of the teams' names but not the table, by declaring the index as a table. */
function editIndex(path: string, sql: string, name: string): void {
  const db = new DatabaseSync(path, { defensive: false });
  const root = db.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_teams_1'`).get();
  db.exec('PRAGMA writable_schema = ON');
  const index = 'CREATE TABLE names (name TEXT, id INTEGER, PRIMARY KEY (name, id)) WITHOUT ROWID';
  db.prepare('INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)').run(
    'table',
    'names',
    'names',
    root?.['rootpage'] as number,
    index,
  );
  db.close();
  edit(path, sql, [name]);
  const after = new DatabaseSync(path, { defensive: false });
  after.exec(`PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'names'`);
  after.close();
}

/** The rows of the undamaged tables of a file whose batches are damaged. */
async function contentOfTeams(path: string): Promise<unknown> {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return ['teams', 'snapshots'].map((table) => db.prepare(`SELECT * FROM ${table}`).all());
  } finally {
    db.close();
  }
}

/** All rows of all tables, read by another connection. */
async function contentOf(path: string): Promise<unknown> {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return ['teams', 'batches', 'snapshots'].map((table) => db.prepare(`SELECT * FROM ${table}`).all());
  } finally {
    db.close();
  }
}

function open(path: string, options?: SqliteJournalOptions): SqliteJournal {
  const journal = sqliteJournal(path, options);
  onTestFinished(() => journal.close());
  return journal;
}
