import { expect, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { recordCrash } from '../../src/runtime/departure.ts';
import { createTeam, join, leave, run, TEAM } from '../ledger/commands.ts';
import { openLedger } from '../ledger/places.ts';

test.each([
  ['its team is closed', { type: 'team.close', by: USER, force: true } as const],
  ['it is stopped', leave('ann')],
])("a crash at the moment at which %s is nobody's trouble", async (_what, command) => {
  const ledger = openLedger(memoryJournal());
  await createTeam(ledger, { members: [] });
  await run(ledger, join('ann', { agent: { kind: 'exec', command: ['true'] } }));
  await run(ledger, { type: 'member.place', by: SYSTEM, memberId: 'ann', hostId: 'here' });
  // Between the look at the team and the record.
  const late = Object.assign(Object.create(ledger) as Ledger, {
    view: async (...given: Parameters<Ledger['view']>) => {
      const seen = await ledger.view(...given);
      await run(ledger, command);
      return seen;
    },
    execute: ledger.execute.bind(ledger),
  });
  const crash = { teamId: TEAM, memberId: 'ann', how: 'ended by SIGKILL' };
  const found = recordCrash({ ledger: late, mailbox: new Mailbox(ledger), hostId: 'here' }, crash);
  expect(await found).toBeUndefined();
});
