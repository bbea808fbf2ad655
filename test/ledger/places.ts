import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { LedgerOptions } from '../../src/ledger/options.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Where one test stores its teams. */
export interface Place {
  /** Opens a journal on this place. On a file, each is like the journal of another process. */
  open(): Journal;
}

/** Every journal that a ledger must work on. */
export const PLACES: readonly { name: string; makePlace: () => Place }[] = [
  { name: 'memory', makePlace: memoryPlace },
  { name: 'sqlite', makePlace: () => sqlitePlace() },
];

/** One journal for all: no other process can reach this memory. */
function memoryPlace(): Place {
  const journal = memoryJournal();
  return { open: () => journal };
}

/** A file in a temporary folder of the running test. */
export function sqlitePlace(path: string = join(temporaryFolder(), 'journal.db')): Place {
  return {
    open() {
      const journal = sqliteJournal(path);
      onTestFinished(() => journal.close());
      return journal;
    },
  };
}

/** Opens a ledger and closes it when the test ends. */
export function openLedger(journal: Journal, options?: LedgerOptions): Ledger {
  const ledger = new Ledger(journal, options);
  onTestFinished(() => ledger.close());
  return ledger;
}
