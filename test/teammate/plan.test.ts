import { expect, test } from 'vitest';
import type { Turn } from '../../src/agents/agent.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { openTeam } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { until } from '../until.ts';
import { ask, startMember } from './member.ts';
import type { Member, Play } from './member.ts';

const planning = ({ task, plan, feedback }: Turn): string =>
  plan ? `I will do ${task?.title}${feedback ? `: ${feedback}` : ''}` : `did ${task?.title}`;

/** A member that must plan first, with a task. */
async function startPlanner(play: Play = planning): Promise<{ house: House; ada: Member }> {
  const house = await openTeam(['bob']);
  await house.call('member.add', { teamId: 'demo', name: 'ada', planApprovalRequired: true });
  const ada = startMember(house, 'ada', play, { mode: 'plan', workMode: 'full' });
  await ask(house).create('Tidy');
  return { house, ada };
}

const plans = (house: House): Promise<TeamRequest[]> => house.call('request.list', { teamId: 'demo', kind: 'plan' });

const pendingPlan = (house: House): Promise<TeamRequest> =>
  until('a plan waits', async () => (await plans(house)).find(({ status }) => status === 'pending'));

const judge = (house: House, verdict: 'approve' | 'reject', { id }: TeamRequest, more: object = {}) =>
  house.call(`plan.${verdict}`, { teamId: 'demo', requestId: id, ...more });

const isDone =
  (house: House, id = '1') =>
  async (): Promise<boolean> =>
    (await ask(house).task(id)).status === 'completed';

test('a plan is requested, rejected with feedback, and approved; the first approval holds for later tasks', async () => {
  const { house, ada } = await startPlanner();
  const first = await pendingPlan(house);
  expect(first).toMatchObject({ content: 'I will do Tidy', memberId: 'ada' });
  await judge(house, 'reject', first, { feedback: 'with care' });
  const second = await pendingPlan(house);
  expect(second.content).toBe('I will do Tidy: with care');
  await judge(house, 'approve', second);
  await until('it is done', isDone(house));
  await ask(house).create('Sweep');
  await until('the next is done', isDone(house, '2'));
  expect(ada.turns.map(({ task, plan, feedback }) => [task?.id, plan, feedback])).toEqual([
    ['1', true, undefined],
    ['1', true, 'with care'],
    ['1', undefined, undefined],
    ['2', undefined, undefined],
  ]);
  expect(ada.turns[1]?.text).toContain('Your plan for it was sent back. What has to change:\n\nwith care');
  // The conversation goes on in another mode.
  expect(ada.sessions).toEqual([
    { mode: 'plan', resume: undefined },
    { mode: 'full', resume: expect.any(String) },
  ]);
});

test.each(['approve', 'reject'] as const)(
  'a plan that was submitted with a tool and is judged before the turn ends (%s) is not submitted again',
  async (verdict) => {
    const opened = Promise.withResolvers<House>();
    const { house, ada } = await startPlanner(async (turn, { count }) => {
      if (count > 1) return planning(turn);
      const team = await opened.promise;
      const plan = await team.call<TeamRequest>('plan.submit', { teamId: 'demo', content: 'by hand' }, 'ada');
      await judge(team, verdict, plan, { feedback: 'as you like' });
      return 'I handed my plan in';
    });
    opened.resolve(house);
    if (verdict === 'reject') {
      await until('the agent plans again', () => ada.turns.length === 2);
      await judge(house, 'approve', await pendingPlan(house));
    }
    await until('it is done', isDone(house));
    const contents = (await plans(house)).map(({ content }) => content);
    expect(contents).toEqual(verdict === 'approve' ? ['by hand'] : ['by hand', 'I will do Tidy: as you like']);
    expect(ada.turns).toHaveLength(verdict === 'approve' ? 2 : 3);
  },
);

test('a newer plan replaces one that waits, and its approval starts the work', async () => {
  const { house } = await startPlanner();
  const first = await pendingPlan(house);
  const newer = await house.call<TeamRequest>('plan.submit', { teamId: 'demo', content: 'rather so' }, 'ada');
  expect((await plans(house)).map(({ id, status }) => [id, status])).toEqual([
    [first.id, 'withdrawn'],
    [newer.id, 'pending'],
  ]);
  await judge(house, 'approve', newer);
  await until('it is done', isDone(house));
});

test('while a plan waits the task may be reassigned: the member goes on with another', async () => {
  const { house, ada } = await startPlanner();
  await pendingPlan(house);
  await house.call('task.assign', { teamId: 'demo', taskId: '1', assigneeId: 'bob' });
  await ask(house).create('Sweep');
  await until('it plans the other', () => ada.turns.some(({ task }) => task?.id === '2'));
});

test('while a plan waits the member may be asked to shut down: the task is released', async () => {
  const { house, ada } = await startPlanner();
  await pendingPlan(house);
  await house.call('shutdown.request', { teamId: 'demo', memberId: 'ada' });
  expect(await ada.ended).toBe('shutdown');
  expect(await ask(house).task('1')).toMatchObject({ status: 'pending' });
  expect((await ask(house).events('task:released')).map(({ reason }) => reason)).toEqual([
    'stopped before its plan was approved',
  ]);
});

test('while a plan waits the member may be stopped: the task is released', async () => {
  const { house, ada } = await startPlanner();
  await pendingPlan(house);
  ada.stop();
  expect(await ada.ended).toBe('stopped');
  expect(await ask(house).task('1')).toMatchObject({ status: 'pending' });
});

test('if the agent fails while it plans, the task fails', async () => {
  const { house } = await startPlanner(() => {
    throw new Error('no idea');
  });
  await until('it is failed', async () => (await ask(house).task('1')).failure === 'no idea');
});
