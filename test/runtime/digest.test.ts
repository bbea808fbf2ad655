import { expect, test } from 'vitest';
import { memoryJournal } from '../../src/journal/memory.ts';
import { fullDigest } from '../../src/runtime/digest.ts';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { raiseTeam } from '../../src/runtime/team-file/raise.ts';
import { openLedger } from '../ledger/places.ts';

const LED = `team: led
lead: { agent: { exec: [sh, lead.sh] }, prompt: Lead them }
members:
  - { name: coder, agent: { exec: [sh, work.sh] } }
  - { name: tester, agent: { exec: [sh, work.sh] } }
`;

test('a lead that starts before its teammates still learns of them', async () => {
  const ledger = openLedger(memoryJournal());
  await raiseTeam(ledger, parseTeamFile(LED, 'troupe.yaml'), { folder: '/somewhere' });
  const { text } = await ledger.view('led', fullDigest);
  expect(text).toContain('starting: coder, tester.');
  expect(text).not.toContain('No teammates');
});
