import type { Home } from '../../src/client/home.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';

/** A ledger on the journal of a home whose daemon does not run yet; closed, it leaves the file to the daemon, who has it alone. */
export class HomeLedger extends Ledger {
  readonly #journal: Journal;

  constructor(home: Home) {
    const journal = sqliteJournal(home.journal);
    super(journal, { exclusive: true });
    this.#journal = journal;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#journal.close();
  }
}
