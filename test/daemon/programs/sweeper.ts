// Cleans up once, as a daemon does every six hours, and as if what was just written were a day old: sweeper.ts HOME
// Only while no daemon runs there. Prints `swept` in the end.
import { createHash } from 'node:crypto';
import { endMarked, MARKER } from '../../../src/agents/process.ts';
import { homeAt } from '../../../src/client/home.ts';
import { openJournal, OWN_PLACE } from '../../../src/journals.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { openCleanUp } from '../../../src/runtime/work/clean-up.ts';
import { openProjects } from '../../../src/workspaces.ts';

const [folder = ''] = process.argv.slice(2);
const home = homeAt(folder);
// As the daemon's: the next one ends what a killed one left.
const mark = `git-${createHash('sha256').update(home.directory).digest('hex').slice(0, 24)}`;
const { journal } = await openJournal(OWN_PLACE, { file: home.journal, exclusive: true, mark: home.serversMark });
const ledger = new Ledger(journal, { exclusive: true });
const projects = await openProjects({
  root: home.directory,
  environment: process.env,
  marks: { [MARKER]: mark },
  endLeftovers: () => endMarked(mark),
});
process.stdout.write('open\n');
const DAY = 24 * 60 * 60_000;
const cleanUp = openCleanUp({ ledger, projects }, (error) => {
  throw error;
});
await cleanUp.sweep(Date.now() + DAY + 1_000);
process.stdout.write('swept\n');
await ledger.close();
await journal.close();
