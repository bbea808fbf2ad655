import type { Home } from '../../src/client/home.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';

/** A ledger on a home's journal, before its daemon runs. `close` releases the file, which the daemon locks. */
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

/** Writes what happened to a team in the last minute, a step a second, before its daemon starts. */
export async function writePast(home: Home, teamId: string, steps: readonly NewCommand[]): Promise<void> {
  const ledger = new HomeLedger(home);
  const start = Date.now() - 60_000;
  for (const [i, step] of steps.entries()) {
    await ledger.execute(teamId, { ...step, at: start + i * 1_000 }, () => undefined);
  }
  await ledger.close();
}
