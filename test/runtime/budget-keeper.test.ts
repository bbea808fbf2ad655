import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { keepBudgets } from '../../src/runtime/budget-keeper.ts';
import { claim, createTeam, join, run, task, TEAM } from '../ledger/commands.ts';
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

/** Two turns, one on each machine, use up each of these. */
const BUDGETS = { turns: 2, tokens: 20, costUsd: 2, minutes: 0.002 };
const HALF = { ...NO_USAGE, turns: 1, outputTokens: 10, costUsd: 1 };
const cases = (['team', 'member', 'task'] as const).flatMap((of) =>
  (['turns', 'tokens', 'costUsd', 'minutes'] as const)
    // Nobody is asked about the turns of a task before it needs another one: its member does.
    .filter((what) => of !== 'task' || what !== 'turns')
    .map((what) => ({ of, what })),
);

test.each(cases)('two machines ask once about the $what of a $of that both have used', async ({ of, what }) => {
  const journal = memoryJournal();
  const a = await setStage(journal);
  const b = await setStage(journal, false);
  for (const { keeper } of [a, b]) await keeper().start();
  const budget = { [what]: BUDGETS[what] };
  await run(
    a.ledger,
    join('cy', { agent }),
    task('Carry on'),
    claim('cy', '1'),
    ...(of === 'team' ? [{ type: 'team.update', by: USER, budget } as const] : []),
    ...(of === 'member' ? [{ type: 'member.change', by: USER, memberId: 'cy', budget } as const] : []),
    ...(of === 'task' ? [{ type: 'task.update', by: USER, taskId: '1', budget } as const] : []),
  );
  const turn = { type: 'usage.record', by: SYSTEM, memberId: 'cy', taskId: '1', usage: HALF } as const;
  for (const { ledger } of [a, b]) await run(ledger, turn);
  const request = await until('a person is asked', () => asked(b.ledger));
  expect(request).toMatchObject({ memberId: 'cy', detail: { of, what } });
  // Both see the same question, and neither asks another one.
  await until('the other machine has it', async () => (await asked(a.ledger))?.id === request.id);
  for (const { ledger } of [a, b]) {
    const all = await ledger.view(TEAM, ({ requests }) =>
      [...requests.values()].filter(({ kind }) => kind === 'budget'),
    );
    expect(all.map(({ id }) => id)).toEqual([request.id]);
  }
});

async function setStage(journal = memoryJournal(), isNew = true) {
  const ledger = openLedger(journal);
  if (isNew) await createTeam(ledger);
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
