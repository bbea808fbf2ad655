import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { collect, fill, note, numbers } from '../contracts/journal/notes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HANG_MS } from '../until.ts';
import { startFixture } from './children.ts';
import { openFile } from './files.ts';

describe('several processes on one file', () => {
  test('can create and open it at the same time', async () => {
    const path = join(temporaryFolder(), 'new', 'journal.db');
    const names = Array.from({ length: 8 }, (_, i) => `process-${i}`);
    const children = names.map((name) => startFixture('journal-appender', [path, name, name, '5']));
    for (const { ended } of children) expect(await ended).toEqual({ code: 0, signal: null, errors: '' });
    const journal = openFile(path);
    expect(await journal.teams()).toEqual(names);
    for (const name of names) expect(await collect(journal.read(name, 0))).toHaveLength(5);
  });

  test('append to one team without losing or duplicating a batch', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const journal = openFile(path);
    await journal.append('a', 0, [note('first')]);
    const names = ['one', 'two', 'three', 'four'];
    const children = names.map((name) => startFixture('journal-appender', [path, 'a', name, '100', 'led']));
    // Each appends once and waits. Now all but the last know an old end, and all go on at the same time.
    for (const child of children) await child.until(1);
    for (const child of children) child.say('next\n'.repeat(100));
    for (const { ended } of children) expect(await ended).toEqual({ code: 0, signal: null, errors: '' });

    const batches = await collect(journal.read('a', 1));
    expect(batches.map(({ seq }) => seq)).toEqual(numbers(2, 401));
    for (const [i, { lines }] of children.entries()) {
      const own = batches.filter(({ events }) => (events[0] as unknown as { by: string }).by === names[i]);
      expect(lines.slice(0, -1).map(Number)).toEqual(own.map(({ seq }) => seq));
    }
    const conflicts = children.map(({ lines }) => Number(lines.at(-1)?.replace('conflicts ', '')));
    // The first conflict is with the batch of this process.
    expect(conflicts.filter((count) => count > 1).length).toBeGreaterThanOrEqual(names.length - 1);
  });
});

describe('a follower', () => {
  /** Makes a follower depend on the bell: it polls only after the test. */
  const BELL_ONLY = { pollMs: 10 * HANG_MS };

  test('hears the bell of another process that appends', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    await followAppender(openFile(path, BELL_ONLY), path);
  });

  test('hears it after the bell file was removed', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const journal = openFile(path, BELL_ONLY);
    const abort = new AbortController();
    const waiting = collect(journal.follow('nobody', 0, abort.signal));
    rmSync(`${path}.bell`);
    await followAppender(journal, path);
    abort.abort();
    expect(await waiting).toEqual([]);
  });

  test('hears it when the bell file is removed while both processes have it open', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const takeAway = (seen: number): void => {
      if (seen % 10 === 0) rmSync(`${path}.bell`);
    };
    await followAppender(openFile(path, BELL_ONLY), path, takeAway);
  });

  test('in another process sees batches of this one, and does not keep its process alive', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    const journal = openFile(path);
    await fill(journal, 'a', 3);
    const follower = startFixture('journal-follower', [path, 'a', '200']);
    await follower.until(4);
    await fill(journal, 'a', 200, 3);
    expect(await follower.ended).toEqual({ code: 0, signal: null, errors: '' });
    expect(follower.lines).toEqual(['open', ...numbers(1, 200).map(String)]);
  });
});

/** Lets another process append 40 batches, each after this process saw the one before. */
async function followAppender(
  journal: Journal,
  path: string,
  onSeen: (count: number) => void = () => {},
): Promise<void> {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const appender = startFixture('journal-appender', [path, 'a', 'other', '40', 'led']);
  let seen = 0;
  for await (const { seq } of journal.follow('a', 0, abort.signal)) {
    expect(seq).toBe(++seen);
    if (seen === 40) break;
    onSeen(seen);
    appender.say('next');
  }
  appender.say('next');
  expect((await appender.ended).errors).toBe('');
}
