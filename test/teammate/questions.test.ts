import { expect, test } from 'vitest';
import type { TeamMember } from '../../src/core/member.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { openTeam } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { until } from '../until.ts';
import { ask, startMember } from './member.ts';
import type { Play } from './member.ts';

/** Asks in its first turn and ends it; with the answer it does the task. */
const asks =
  (house: House, more: object = {}): Play =>
  async ({ messages, task }, { count }) => {
    if (count > 1 || messages.length > 0) return `did ${task?.title ?? 'nothing'}: ${messages[0]?.content ?? ''}`;
    await house.call('question.ask', { teamId: 'demo', content: 'Left or right?', ...more }, 'ada');
    return 'I wait for my user';
  };

const question = (house: House): Promise<TeamRequest> =>
  until('it has asked', async () => {
    const asked = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'question' });
    return asked.find(({ status }) => status === 'pending');
  });

const isDone = (house: House) => async () => (await ask(house).task('1')).status === 'completed';

test('a turn that ends with an open question does not end its task; the answer wakes the member with it', async () => {
  const house = await openTeam(['ada']);
  const ada = startMember(house, 'ada', asks(house));
  await ask(house).create('Tidy');
  const { id, taskId } = await question(house);
  expect(taskId).toBe('1');
  await until('it says why it waits', async () => {
    const { metadata } = await house.call<TeamMember>('member.show', { teamId: 'demo', memberId: 'ada' });
    return JSON.stringify(metadata?.['waiting'])?.includes('an answer to its question: Left or right?');
  });
  expect((await ask(house).task('1')).status).toBe('in_progress');
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true, feedback: 'Left' });
  await until('it is done', isDone(house));
  expect(ada.turns).toHaveLength(2);
  expect((await ask(house).task('1')).result).toContain('You asked: Left or right?\nThe answer: Left');
  const { metadata } = await house.call<TeamMember>('member.show', { teamId: 'demo', memberId: 'ada' });
  expect(metadata?.['waiting']).toBeUndefined();
});

test('an answer that comes while the turn still ends is not missed', async () => {
  const house = await openTeam(['ada']);
  const ada = startMember(house, 'ada', async ({ messages }, { count }) => {
    if (count > 1) return `did it: ${messages[0]?.content ?? ''}`;
    const asked = await house.call<TeamRequest>('question.ask', { teamId: 'demo', content: 'Left or right?' }, 'ada');
    await house.call('request.answer', { teamId: 'demo', requestId: asked.id, approve: true, feedback: 'Left' });
    return 'I wait for my user';
  });
  await ask(house).create('Tidy');
  await until('it is done', isDone(house));
  expect(ada.turns).toHaveLength(2);
  expect((await ask(house).task('1')).result).toContain('The answer: Left');
});

test('a member that starts again waits for the answer to its open question instead of asking once more', async () => {
  const house = await openTeam(['ada']);
  const first = startMember(house, 'ada', asks(house));
  await ask(house).create('Tidy');
  const { id } = await question(house);
  first.stop();
  await first.ended;
  const second = startMember(house, 'ada', asks(house));
  await until('it took the task again', async () => (await ask(house).task('1')).epoch === 2);
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true, feedback: 'Right' });
  await until('it is done', isDone(house));
  expect(second.turns).toHaveLength(1);
  expect(await house.call('request.list', { teamId: 'demo', kind: 'question' })).toHaveLength(1);
});

test('without an answer the task fails if the member asked for that, and it takes the next one', async () => {
  const house = await openTeam(['ada']);
  startMember(house, 'ada', asks(house, { otherwise: 'fail' }));
  await ask(house).create('Tidy');
  const { id } = await question(house);
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: false, feedback: 'Not now' });
  expect(await ask(house).task('1')).toMatchObject({
    status: 'failed',
    failure: 'It needed an answer and got none. Not now It asked: Left or right?',
  });
  await ask(house).create('Sweep');
  await until('the next is done', async () => (await ask(house).task('2')).status === 'completed');
});

test('a lead that ends its turn with a question is woken by the answer', async () => {
  const house = await openTeam([]);
  const turns: string[] = [];
  startMember(house, 'lead', async ({ text }) => {
    turns.push(text);
    if (turns.length === 1) await house.call('question.ask', { teamId: 'demo', content: 'How much?' }, 'lead');
    return 'waiting';
  });
  const { id, taskId } = await question(house);
  expect(taskId).toBeUndefined();
  await until('it rests', async () => {
    const { status } = await house.call<TeamMember>('member.show', { teamId: 'demo', memberId: 'lead' });
    return status === 'idle';
  });
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true, feedback: 'All of it' });
  await until('it heard', () => turns.find((text) => text.includes('The answer: All of it')));
});
