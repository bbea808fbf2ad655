import { onTestFinished } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import type { SqliteJournalOptions } from '../../src/journal/sqlite.ts';

/** Opens a journal and closes it when the test ends. */
export function openFile(path: string, options?: SqliteJournalOptions): Journal {
  const journal = sqliteJournal(path, options);
  onTestFinished(() => journal.close());
  return journal;
}

/** Uses a journal and closes it. */
export async function withFile(path: string, use: (journal: Journal) => Promise<void>): Promise<void> {
  const journal = sqliteJournal(path);
  await use(journal);
  await journal.close();
}
