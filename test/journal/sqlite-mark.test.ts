import { hash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeMark } from '../../src/journal/mark.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { findLost, markOf } from '../../src/journal/sqlite/lost.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const events = (n: number) => [{ type: 'note', n }] as never;

/** How a journal can lose what it had; none of this looks like damage to SQLite. */
const LOSSES: [string, (path: string) => void][] = [
  ['its log was emptied', (path) => writeFileSync(`${path}-wal`, '')],
  ['its log was zeroed', (path) => writeFileSync(`${path}-wal`, Buffer.alloc(statSync(`${path}-wal`).size))],
  ['its log was replaced by garbage', (path) => writeFileSync(`${path}-wal`, randomBytes(99_999))],
  ['its log was removed', (path) => rmSync(`${path}-wal`)],
  ['its file and its log were removed', (path) => ['', '-wal'].forEach((end) => rmSync(path + end))],
  ['it is an older copy of itself', older],
];

test.each(LOSSES)('is refused, and nothing is changed, if %s; until a person agrees', async (_, lose) => {
  const path = await crashed();
  lose(path);
  const before = contents(path);
  expect(() => sqliteJournal(path, { exclusive: true })).toThrow(
    expect.objectContaining({
      code: 'corrupt',
      message: expect.stringMatching(/has lost batches: team "alpha" had 40 batches and .*troupe journal accept$/),
    }),
  );
  expect(contents(path)).toEqual(before);
  removeMark(markOf(path));
  const journal = sqliteJournal(path, { exclusive: true });
  const teams = await journal.teams();
  await journal.append('next', 0, events(1));
  await journal.close();
  expect(findLost(path)).toEqual([]);
  expect(teams.length).toBeLessThanOrEqual(1);
});

test('has lost nothing if it was killed, closed, or if a team was dropped', async () => {
  const path = await crashed();
  const journal = sqliteJournal(path, { exclusive: true });
  await journal.append('beta', 0, events(1));
  await journal.drop('alpha');
  // As after a kill: the last write of the mark is the one before the drop.
  expect(findLost(path)).toEqual([]);
  await journal.append('alpha', 0, events(1));
  await journal.close();
  expect(findLost(path)).toEqual([]);
  const shared = sqliteJournal(path);
  await shared.drop('alpha');
  await shared.close();
  expect(findLost(path)).toEqual([]);
  expect(await namesIn(path)).toEqual(['beta']);
});

test.each([
  ['garbage', (mark: string) => writeFileSync(mark, 'garbage')],
  ['a folder', (mark: string) => (rmSync(mark), mkdirSync(mark))],
])('opens if its mark is %s', async (_, spoil) => {
  const path = await crashed();
  spoil(`${path}.mark`);
  expect(await namesIn(path)).toEqual(['alpha']);
});

/** A journal with one team, as a killed process leaves it: everything is in the log. */
async function crashed(): Promise<string> {
  const live = join(temporaryFolder(), 'live.db');
  const journal = sqliteJournal(live, { exclusive: true, markMs: 1 });
  onTestFinished(() => journal.close());
  for (let seq = 0; seq < 40; seq++) await journal.append('alpha', seq, events(seq));
  await until('the mark has come as far', () => readFileSync(`${live}.mark`, 'utf8').includes('"alpha":40'));
  const path = join(temporaryFolder(), 'journal.db');
  for (const end of ['', '-wal', '.mark']) copyFileSync(live + end, path + end);
  return path;
}

function older(path: string): void {
  const before = join(temporaryFolder(), 'older.db');
  const empty = sqliteJournal(before);
  void empty.close();
  rmSync(`${path}-wal`);
  copyFileSync(before, path);
}

async function namesIn(path: string): Promise<string[]> {
  const journal = sqliteJournal(path, { exclusive: true });
  try {
    return await journal.teams();
  } finally {
    await journal.close();
  }
}

/** The files that hold teams. Reading may leave an empty log. */
function contents(path: string): string[] {
  return ['', '-wal', '.mark'].map((end) => hash('sha1', existsSync(path + end) ? readFileSync(path + end) : ''));
}
