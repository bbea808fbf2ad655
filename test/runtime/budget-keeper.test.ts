import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { keepBudgets } from '../../src/runtime/budget-keeper.ts';
import { createTeam, join, run, TEAM } from '../ledger/commands.ts';
import { openLedger } from '../ledger/places.ts';
import { until } from '../until.ts';

const agent = { kind: 'exec', command: ['true'] };

test('a time budget is noticed when its time comes, without any other event', async () => {
  const { ledger, keeper } = await setStage();
  await keeper().start();
  await run(ledger, join('cy', { agent }), { type: 'team.update', by: USER, budget: { minutes: 0.002 } });
  const request = await until('a person is asked', () => asked(ledger));
  expect(request).toMatchObject({ memberId: 'cy', detail: { of: 'team', what: 'minutes', grants: 0.002 } });
  expect(request.content).toMatch(/ of 120 ms is used\. Most of it by cy .* Yes allows 120 ms more\./);
  // A yes counts from now on, and then it is asked again.
  await run(ledger, { type: 'request.answer', by: USER, requestId: request.id, approve: true });
  await until('a person is asked again', async () => (await asked(ledger))?.id !== request.id && asked(ledger));
});

test('a daemon asks about a budget that was used up when the last one was killed', async () => {
  const { ledger, keeper } = await setStage();
  await run(ledger, { type: 'team.update', by: USER, budget: { turns: 1 } }, join('cy', { agent }), {
    type: 'usage.record',
    by: SYSTEM,
    memberId: 'cy',
    usage: { ...NO_USAGE, turns: 1 },
  });
  await keeper().start();
  await until('a person is asked', () => asked(ledger));
});

async function setStage() {
  const ledger = openLedger(memoryJournal());
  await createTeam(ledger);
  const mailbox = new Mailbox(ledger);
  onTestFinished(() => mailbox.close());
  const keeper = () => {
    const kept = keepBudgets({ ledger, mailbox }, (error) => {
      throw error;
    });
    onTestFinished(() => kept.close());
    return kept;
  };
  return { ledger, keeper };
}

function asked(ledger: Ledger): Promise<TeamRequest | undefined> {
  return ledger.view(TEAM, ({ requests }) =>
    [...requests.values()].find(({ kind, status }) => kind === 'budget' && status === 'pending'),
  );
}
