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

/** A team has at most 10,000 tasks. Six in ten are claimed and completed. All other events are messages. */
const TASKS = Math.min(10_000, EVENTS / 10);
const SIZES = { tasks: TASKS, messages: EVENTS - 2.2 * TASKS };

test(`a team of ${EVENTS} events opens whole`, async () => {
  const folder = isProof ? onDisk() : temporaryFolder();
  const journal = sqliteJournal(join(folder, 'journal.db'));
  onTestFinished(() => journal.close());
  await fillTeam(journal, 'long', SIZES);
  const written = await writeEvents(journal, 'long', folder);
  expect(written.events).toBeGreaterThanOrEqual(EVENTS);
  const found = await interleave({ rounds: ROUNDS, size: (full) => full }, () => readAndParse(written.path), {
    replay: () => openTeam(journal, 'long', SIZES),
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
