import { memoryJournal } from '../../src/journal/memory.ts';
import { describeJournal } from '../contracts/journal.ts';

describeJournal('memory', () => {
  const journal = memoryJournal();
  return () => journal;
});
