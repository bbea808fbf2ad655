import { expect, test } from 'vitest';
import type { TeamRequest } from '../../src/core/request.ts';
import { until } from '../until.ts';
import { setStage } from './stage.ts';

test('no turn begins after the budget is used up, until a person gives more; the lead is told at 80 %', async () => {
  const stage = setStage();
  const tasks = Array.from({ length: 9 }, (_, i) => ({ title: `Task ${i + 1}` }));
  const file = stage.teamFile({
    team: 'thrifty',
    lead: 'person',
    members: [{ ...stage.member('worker', 'quick'), budget: { turns: 5 } }],
    tasks,
  });
  await stage.ask('up', file, '--detach');
  const question = await until('a person is asked', async () =>
    (await stage.ask<TeamRequest[]>('approve')).find(({ kind }) => kind === 'budget'),
  );
  expect(question).toMatchObject({
    memberId: 'worker',
    content: expect.stringContaining('used up to 5 turns of 5 turns'),
    detail: { of: 'member', what: 'turns' },
  });
  const client = stage.client();
  await until('it rests', async () => {
    const { status } = await client.call('member.show', { teamId: 'thrifty', memberId: 'worker' });
    return status === 'idle';
  });
  expect(stage.work()).toHaveLength(5);
  const [warning] = await client.call('message.inbox', { teamId: 'thrifty', memberId: 'lead' });
  expect(warning?.content).toContain('used up to 4 turns of 5 turns');
  await stage.ask('approve', question.id);
  await until('all is done', async () => {
    const { tasks: counts } = await client.call('team.status', { teamId: 'thrifty' });
    return counts['completed'] === 9;
  });
  const uses = await stage.ask('budget', 'show', 'worker', '--team', 'thrifty');
  expect(uses).toMatchObject([{ of: 'member', what: 'turns', used: 9, limit: 10 }]);
});
