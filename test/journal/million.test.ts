import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openWorkspace } from '../../bench/disk.ts';
import { readAndParse } from '../../bench/limits.ts';
import { fillTeam, openTeam, writeEvents } from '../../bench/open.ts';
import { interleave, median } from '../../bench/rounds.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { isProof, rounds, tell } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const EVENTS = rounds(1_000, 1_000_000);
const ROUNDS = rounds(1, 3);

/** A task that is created, a message about it, and six times in ten that it is claimed and completed. */
const EVENTS_PER_TASK = 3.2;

test(`a team of ${EVENTS} events opens whole`, async () => {
  const folder = isProof ? onDisk() : temporaryFolder();
  const journal = sqliteJournal(join(folder, 'journal.db'));
  onTestFinished(() => journal.close());
  const count = Math.ceil(EVENTS / EVENTS_PER_TASK / 10) * 10;
  const expected = { tasks: count, messages: count };
  await fillTeam(journal, 'long', expected);
  const written = await writeEvents(journal, 'long', folder);
  expect(written.events).toBeGreaterThanOrEqual(EVENTS);
  const found = await interleave({ rounds: ROUNDS, size: (full) => full }, () => readAndParse(written.path), {
    replay: () => openTeam(journal, 'long', expected),
  });
  tell({
    openedEvents: written.events,
    openTimes: [median(found.ratios.replay)],
    openMs: [median(found.parts.replay)],
  });
});

/** A folder on a real disk. */
function onDisk(): string {
  const workspace = openWorkspace();
  onTestFinished(() => workspace[Symbol.dispose]());
  return workspace.folder;
}
