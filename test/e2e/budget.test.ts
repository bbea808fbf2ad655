import { expect, test } from 'vitest';
import type { TeamRequest } from '../../src/core/request.ts';
import { until } from '../until.ts';
import { setStage } from './stage.ts';

test('a program that has used up its budget rests until a person raises the budget on the command line', async () => {
  const stage = setStage();
  const tasks = Array.from({ length: 3 }, (_, i) => ({ title: `Task ${i + 1}` }));
  const file = stage.teamFile({
    team: 'thrifty',
    lead: 'person',
    members: [{ ...stage.member('worker', 'quick'), budget: { turns: 2 } }],
    tasks,
  });
  await stage.ask('up', '--yes', file, '--detach');
  const client = stage.client();
  await until('a person is asked', async () => {
    const requests = await client.call('request.list', { teamId: 'thrifty', kind: 'budget' });
    return requests.length > 0;
  });
  const [question] = await stage.ask<[TeamRequest]>('approve');
  expect(question).toMatchObject({
    memberId: 'worker',
    content: expect.stringContaining('2 turns of 2 turns is used'),
    detail: { of: 'member', what: 'turns' },
  });
  await until('it rests', async () => {
    const { status } = await client.call('member.show', { teamId: 'thrifty', memberId: 'worker' });
    return status === 'idle';
  });
  expect(stage.work()).toHaveLength(2);
  await stage.ask('approve', question.id);
  await until('all is done', async () => {
    const { tasks: counts } = await client.call('team.status', { teamId: 'thrifty' });
    return counts['completed'] === 3;
  });
  const uses = await stage.ask('budget', 'show', 'worker', '--team', 'thrifty');
  expect(uses).toMatchObject([{ of: 'member', what: 'turns', used: 3, limit: 4 }]);
});
