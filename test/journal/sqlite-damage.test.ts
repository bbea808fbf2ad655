import { closeSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Journal, Seq } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { collect, error, fill, note, texts } from '../contracts/journal/notes.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The key of a batch of the first team. */
const FIRST_TEAM = 2 ** 32;

describe('a damaged batch', () => {
  test.each<[string, string, SQLInputValue[]]>([
    ['another text', `UPDATE batches SET body = replace(body, '3', '4') WHERE id = ?`, [FIRST_TEAM + 3]],
    ['another checksum', 'UPDATE batches SET sum = sum + 1 WHERE id = ?', [FIRST_TEAM + 3]],
    ['the text of its neighbour', sqlCopy('body, sum'), [FIRST_TEAM + 2, FIRST_TEAM + 3]],
    ['no JSON', 'UPDATE batches SET body = ?, sum = ? WHERE id = ?', ['[{', crc32('[{', 3), FIRST_TEAM + 3]],
    ['nothing: it is gone', 'DELETE FROM batches WHERE id = ?', [FIRST_TEAM + 3]],
  ])('with %s is reported with its team and number, and other teams go on', async (_, sql, values) => {
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

describe('a damaged snapshot', () => {
  test.each<[string, string]>([
    ['another text', `UPDATE snapshots SET body = 'else'`],
    ['another number', 'UPDATE snapshots SET seq = 2'],
    ['a number beyond the end', 'UPDATE snapshots SET seq = 77'],
  ])('with %s is as if there were none, and gives way to the next', async (_, sql) => {
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

describe('a damaged page', () => {
  test('stops the team whose batches it holds and no other', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    overwritePage(path, 'last of b');

    const journal = open(path);
    // Asked for together, so that they would go in one transaction.
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
    expect((await collect(journal.read('c', 10))).at(-1)?.seq).toBe(51);
    expect(await journal.append('c', 51, [note('52')])).toBe(52);
  });

  test('at the head of the file is found when opening', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await makeLongTeams(path);
    overwrite(path, 0, Buffer.alloc(100, 0xa5));
    const before = readFileSync(path);
    expect(() => sqliteJournal(path)).toThrow(error('corrupt'));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each([0.2, 0.5, 0.9])(
    'that is missing with the rest of the file, from %d on, is no empty answer',
    async (part) => {
      const path = join(temporaryFolder(), 'journal.db');
      await makeLongTeams(path);
      const file = openSync(path, 'r+');
      ftruncateSync(file, Math.floor((statSync(path).size * part) / 4096) * 4096);
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

/** Spoils the page of the file that has a text in it. */
function overwritePage(path: string, text: string): void {
  const at = readFileSync(path).indexOf(text);
  expect(at).toBeGreaterThan(0);
  overwrite(path, Math.floor(at / 4096) * 4096, Buffer.alloc(4096, 0xa5));
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

function sqlCopy(columns: string): string {
  return `UPDATE batches SET (${columns}) = (SELECT ${columns} FROM batches WHERE id = ?) WHERE id = ?`;
}

function edit(path: string, sql: string, values: SQLInputValue[] = []): void {
  const db = new DatabaseSync(path);
  expect(db.prepare(sql).run(...values).changes).toBe(1);
  db.close();
}

/** Everything that is in the tables, by another connection. */
async function contentOf(path: string): Promise<unknown> {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return ['teams', 'batches', 'snapshots'].map((table) => db.prepare(`SELECT * FROM ${table}`).all());
  } finally {
    db.close();
  }
}

function open(path: string): Journal {
  const journal = sqliteJournal(path);
  onTestFinished(() => journal.close());
  return journal;
}
