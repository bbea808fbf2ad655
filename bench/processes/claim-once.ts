// Claims every task of a new team, for `countFlushes`. Arguments: folder, number of tasks, calls in flight.
import { join } from 'node:path';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { checkClaims, claimAll } from '../claims.ts';
import { markFlushes } from '../flushes.ts';
import { makeTeam, readTeam } from '../team.ts';

const [folder = '', tasks, inFlight] = process.argv.slice(2);
const count = Number(tasks);
const journal = sqliteJournal(join(folder, 'traced.db'), { exclusive: true });
const ledger = new Ledger(journal, { exclusive: true });
const list = new SharedTaskList(ledger);
await makeTeam(ledger, 'traced', count);
let ids: string[] = [];
await markFlushes(folder, async () => {
  ids = await claimAll(list, 'traced', count, Number(inFlight));
});
checkClaims(ids, (await readTeam(journal, 'traced')).flat(), count);
await ledger.close();
await journal.close();
