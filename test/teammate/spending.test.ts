import { expect, test } from 'vitest';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { Usage } from '../../src/core/usage.ts';
import { newTally } from '../../src/teammate/spending.ts';
import { openTeam } from '../mcp/house.ts';
import { until } from '../until.ts';
import { ask, startMember } from './member.ts';

const tokens = (outputTokens: number, costUsd = 0): Usage => ({ ...NO_USAGE, outputTokens, costUsd });

function tallyOf(everyMs: number) {
  const recorded: number[] = [];
  const errors: unknown[] = [];
  const tally = newTally({
    record: async ({ outputTokens }) => void recorded.push(outputTokens),
    onError: (error) => errors.push(error),
    everyMs,
  });
  return { tally, recorded, errors };
}

test('what was recorded during a turn is not part of its final report, and each part is recorded once', async () => {
  const { tally, recorded, errors } = tallyOf(1);
  tally.grow(tokens(10), '1');
  tally.grow(tokens(30), '1');
  await until('it is recorded', () => recorded.length === 1);
  tally.grow(tokens(45), '1');
  await until('the rest is recorded', () => recorded.length === 2);
  expect(recorded).toEqual([30, 15]);
  expect((await tally.settle(tokens(50))).outputTokens).toBe(5);
  // The next turn begins at zero.
  tally.grow(tokens(7), '2');
  await tally.end();
  expect(recorded).toEqual([30, 15, 7]);
  // Less than was told before is nothing, not a negative amount.
  tally.grow(tokens(9), '2');
  await until('it is recorded', () => recorded.length === 4);
  expect((await tally.settle(tokens(4))).outputTokens).toBe(0);
  await tally.end();
  expect({ recorded, errors }).toEqual({ recorded: [30, 15, 7, 9], errors: [] });
});

test('a short turn is recorded once, when it ends; without a final report, what was told counts', async () => {
  const { tally, recorded } = tallyOf(600_000);
  tally.grow(tokens(10), '1');
  expect((await tally.settle(tokens(12))).outputTokens).toBe(12);
  tally.grow(tokens(3), '1');
  tally.grow(tokens(8), '1');
  await tally.end();
  await tally.end();
  expect(recorded).toEqual([8]);
});

test('spending during a turn uses up the budget, which interrupts the turn; nothing is counted twice', async () => {
  const house = await openTeam(['bob']);
  await house.call('member.add', { teamId: 'demo', name: 'ada', budget: { tokens: 1_000 } });
  const { create, task, events } = ask(house);
  await create('Think');
  const ada = startMember(
    house,
    'ada',
    async (turn, { count, emit, signal }) => {
      if (count > 1) {
        emit({ type: 'spending', usage: tokens(5) });
        emit({ type: 'usage', usage: { ...tokens(10), turns: 1 } });
        return `turn ${count}: ${turn.text}`;
      }
      emit({ type: 'spending', usage: tokens(400) });
      await until('that is recorded', async () => (await events('usage:recorded')).length === 1);
      emit({ type: 'spending', usage: tokens(1_200) });
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new Error('interrupted');
    },
    { spendingMs: 1 },
  );
  const request = await until('a person is asked', async () => {
    const [found] = await house.call<{ id: string }[]>('request.list', { teamId: 'demo', kind: 'budget' });
    return found;
  });
  await until('it is interrupted', async () => (await events('usage:recorded')).length === 3);
  await house.call('request.answer', { teamId: 'demo', requestId: request.id, approve: true });
  await until('the task is done', async () => (await task('1')).status === 'completed');
  expect(ada.turns).toHaveLength(2);
  const used = (await events('usage:recorded')).map(({ usage, taskId }) => [usage.outputTokens, usage.turns, taskId]);
  expect(used.slice(0, 3)).toEqual([
    [400, 0, '1'],
    [800, 0, '1'],
    [0, 1, '1'],
  ]);
  const { members } = await house.call<{ members: Record<string, Usage> }>('usage.show', { teamId: 'demo' });
  expect(members['ada']).toMatchObject({ outputTokens: 1_210, turns: 2 });
});
