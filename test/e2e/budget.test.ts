import { expect, test } from 'vitest';
import type { TeamRequest } from '../../src/core/request.ts';
import { until } from '../until.ts';
import { shareDaemon } from './stage.ts';

const newStage = shareDaemon();

test('a program that has used up its budget rests until a person raises the budget on the command line', async () => {
  const stage = newStage();
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

test('a used-up budget is asked about again after a stop, and a larger one in the file is applied and told', async () => {
  const stage = newStage();
  const plan = (turns: number) => ({
    team: 'spent',
    lead: 'none',
    budget: { turns },
    members: [stage.member('worker', 'quick')],
    tasks: [{ title: 'One' }, { title: 'Two' }, { title: 'Three' }],
  });
  const first = await stage.troupe('up', '--yes', stage.teamFile(plan(1)));
  expect(first).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('To allow 1 turn more: troupe approve worker'),
  });
  await stage.troupe('stop');
  await stage.troupe('up', '--yes', stage.teamFile(plan(1)), '--detach');
  await until('a person is asked again', async () => {
    const pending = await stage.client().call('request.list', { teamId: 'spent', status: 'pending' });
    return pending.length > 0;
  });
  // A no names the way on; so does the end of the next run.
  const no = await stage.troupe('approve', 'worker', '--deny');
  expect(no.stdout).toContain('raise the budget in the team file and run troupe up');
  const stuck = await stage.troupe('up', '--yes', stage.teamFile(plan(1)));
  expect(stuck.stdout).toMatch(/the budget of the team: 1 turn of 1 turn is used\. To continue, raise the budget/);
  // Brought up again, it asks again. The larger budget of the file answers that.
  const done = await stage.troupe('up', '--yes', stage.teamFile(plan(3)));
  expect(done.stderr).toContain('The budget of the team is now 3 turns. It was 1 turn.');
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('3 of 3 tasks completed') });
});

test('a time budget of the team interrupts a running program, asks a person, and the work goes on after a yes', async () => {
  const stage = newStage();
  const script = 'if [ -e begun ]; then echo finished; else touch begun; sleep 600; fi';
  const file = stage.teamFile({
    team: 'hasty',
    lead: 'none',
    budget: { time: '3s' },
    members: [{ name: 'worker', agent: { exec: ['sh', '-c', script] } }],
    tasks: [{ title: 'Long' }],
  });
  await stage.ask('up', '--yes', file, '--detach');
  const client = stage.client();
  const question = await until('a person is asked', async () => {
    const [request] = await client.call('request.list', { teamId: 'hasty', kind: 'budget' });
    return request;
  });
  expect(question.content).toMatch(/^The budget of the team: 3 seconds of 3 seconds is used\. Most of it by worker/);
  await until('the program is ended', async () => {
    const { members } = await client.call('usage.show', { teamId: 'hasty' });
    return members['worker']?.turns === 1;
  });
  expect(await client.call('task.show', { teamId: 'hasty', taskId: '1' })).toMatchObject({ status: 'in_progress' });
  expect((await stage.troupe('ps')).stdout).toContain('budget');
  await stage.ask('approve', question.id);
  await until('the task is done', async () => {
    const { status, result } = await client.call('task.show', { teamId: 'hasty', taskId: '1' });
    return status === 'completed' && result === 'finished';
  });
});

test('in a pipe, troupe up ends when only a person can raise the budget', async () => {
  const stage = newStage();
  const file = stage.teamFile({
    team: 'short',
    lead: 'none',
    budget: { time: '3s' },
    members: [{ name: 'worker', agent: { exec: ['sh', '-c', 'sleep 600'] } }],
    tasks: [{ title: 'Long' }],
  });
  const { code, stderr } = await stage.troupe('up', '--yes', file);
  expect(code).toBe(1);
  expect(stderr).toMatch(/budget of the team/i);
});
