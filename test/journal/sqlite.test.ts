import { join } from 'node:path';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { describeJournal } from '../contracts/journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describeJournal('sqlite', () => {
  const path = join(temporaryFolder(), 'journal.db');
  return () => sqliteJournal(path);
});
