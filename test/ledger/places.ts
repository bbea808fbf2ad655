import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { LedgerOptions } from '../../src/ledger/options.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Where teams are kept for one test. */
export interface Place {
  /** A journal on this place. Each is what another process would have, where there can be other processes. */
  open(): Journal;
}

/** Every journal that a ledger must work on. */
export const PLACES: readonly { name: string; makePlace: () => Place }[] = [
  { name: 'memory', makePlace: memoryPlace },
  { name: 'sqlite', makePlace: () => sqlitePlace() },
];

/** One journal for all: nobody else can reach the memory of this process. */
function memoryPlace(): Place {
  const journal = memoryJournal();
  return { open: () => journal };
}

/** A file in a folder of the running test. */
export function sqlitePlace(path: string = join(temporaryFolder(), 'journal.db')): Place {
  return {
    open() {
      const journal = sqliteJournal(path);
      onTestFinished(() => journal.close());
      return journal;
    },
  };
}

/** A ledger that is closed when the test ends. */
export function openLedger(journal: Journal, options?: LedgerOptions): Ledger {
  const ledger = new Ledger(journal, options);
  onTestFinished(() => ledger.close());
  return ledger;
}
