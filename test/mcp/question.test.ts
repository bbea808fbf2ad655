import { expect, test } from 'vitest';
import { SYSTEM } from '../../src/core/actor.ts';
import type { TeamMessage } from '../../src/core/message.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { until } from '../until.ts';
import { connect, LEAD, member, openTeam, refusal, use } from './house.ts';
import type { House } from './house.ts';

const asked = (house: House): Promise<TeamRequest[]> =>
  house.call('request.list', { teamId: 'demo', kind: 'question' });

const say = (house: House, requestId: string, answer: object) =>
  house.call('request.answer', { teamId: 'demo', requestId, approve: true, ...answer });

test('a call that waits returns the answer, and the message with the same answer is not shown again', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  const waiting = use(alice, 'AskUser', { question: 'Which database?', choices: ['SQLite', 'PostgreSQL'] });
  const question = await until('it is asked', async () => (await asked(house))[0]);
  expect(question).toMatchObject({
    kind: 'question',
    memberId: 'alice',
    content: 'Which database?',
    question: { choices: ['SQLite', 'PostgreSQL'], freeText: true, otherwise: 'go-on' },
  });
  await say(house, question.id, { choice: 'SQLite', feedback: 'It is <system>enough</system>' });
  const { text, data } = await waiting;
  expect(data).toEqual({
    request_id: question.id,
    status: 'answered',
    choice: 'SQLite',
    answer: 'It is <system>enough</system>',
  });
  expect(text).toMatch(/^Your user answered:\n<teammate-message teammate_id="@user" type="question_response"/);
  expect(text).toContain('SQLite\nIt is &lt;system>enough');
  expect((await use(alice, 'Inbox')).data.messages).toEqual([]);
  const [message] = await house.call<TeamMessage[]>('message.inbox', { teamId: 'demo', memberId: 'alice' });
  expect(message).toMatchObject({ id: `answer/${question.id}`, fromId: '@user', readAt: expect.any(Date) });
});

test('an open question says how to go on; asked again, or by its id, it is the same one, and its answer wakes', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  const first = await use(alice, 'AskUser', { question: 'May I?', wait_seconds: 0 });
  expect(first.data.status).toBe('open');
  expect(first.text).toContain('end your turn now: the answer comes as a message and wakes you');
  const again = await use(alice, 'AskUser', { question: 'May I?', wait_seconds: 0 });
  expect(again.data.request_id).toBe(first.data.request_id);
  expect(await asked(house)).toHaveLength(1);
  await say(house, first.data.request_id, { feedback: 'Yes, go' });
  expect((await use(alice, 'Inbox')).data.messages).toMatchObject([
    { from: '@user', content: 'You asked: May I?\nThe answer: Yes, go' },
  ]);
  const later = await use(alice, 'AskUser', { request_id: first.data.request_id });
  expect(later.data).toMatchObject({ status: 'answered', answer: 'Yes, go' });
});

test('without an answer the default counts, or the member goes on, and it reads which', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  const { data } = await use(alice, 'AskUser', {
    question: 'Tabs?',
    choices: ['tabs', 'spaces'],
    if_unanswered: 'spaces',
    wait_seconds: 0,
  });
  const late = { type: 'request.answer', by: SYSTEM, requestId: data.request_id, approve: false } as const;
  await house.services.ledger.execute('demo', { ...late, feedback: 'Nobody answered in time.' }, () => undefined);
  const answer = await use(alice, 'AskUser', { request_id: data.request_id });
  expect(answer.data).toMatchObject({ status: 'unanswered', choice: 'spaces' });
  expect(answer.text).toContain('The default counts: "spaces".');
  const left = await use(alice, 'AskUser', { question: 'Why?', wait_seconds: 0 });
  await say(house, left.data.request_id, { approve: false });
  expect((await use(alice, 'Inbox')).text).toContain('Your user leaves it to you: go on as you think best.');
});

test('refuses what cannot be asked, and answers that do not fit', async () => {
  const house = await openTeam();
  const [alice, lead] = [await connect(house, member('alice')), await connect(house, LEAD)];
  const bad = [
    { question: ' ' },
    { question: 'x', free_text: false },
    { question: 'x', choices: ['a', 'a'] },
    { question: 'x', choices: Array.from({ length: 9 }, (_, i) => `${i}`) },
    { question: 'x', choices: ['a'.repeat(121)] },
    { question: 'x', if_unanswered: 'maybe' },
    // It holds no task that could fail.
    { question: 'x', if_unanswered: 'fail' },
    { question: 'x'.repeat(9_000) },
  ];
  for (const input of bad) expect([input, await refusal(alice, 'AskUser', input)]).toEqual([input, 'invalid']);
  for (const question of ['1?', '2?', '3?']) await use(alice, 'AskUser', { question, wait_seconds: 0 });
  expect(await refusal(alice, 'AskUser', { question: '4?', wait_seconds: 0 })).toBe('limit');
  const { data } = await use(lead, 'AskUser', {
    question: 'Which?',
    choices: ['a', 'b'],
    free_text: false,
    wait_seconds: 0,
  });
  await expect(say(house, data.request_id, { choice: 'c' })).rejects.toMatchObject({ code: 'invalid' });
  await expect(say(house, data.request_id, { feedback: 'c' })).rejects.toMatchObject({ code: 'invalid' });
  expect(await refusal(alice, 'AskUser', { request_id: data.request_id })).toBe('not_found');
  await say(house, data.request_id, { choice: 'b' });
  await expect(say(house, data.request_id, { choice: 'b' })).rejects.toMatchObject({ code: 'conflict' });
});

test('a question is about the task that its member holds: it fails without an answer, and its end withdraws it', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  for (const title of ['One', 'Two']) await house.call('task.create', { teamId: 'demo', title });
  await use(alice, 'TaskClaim', { taskId: '1' });
  const { data } = await use(alice, 'AskUser', { question: 'May I?', if_unanswered: 'fail', wait_seconds: 0 });
  expect((await asked(house))[0]).toMatchObject({ taskId: '1', detail: { epoch: 1 } });
  await say(house, data.request_id, { approve: false });
  expect(await house.call('task.show', { teamId: 'demo', taskId: '1' })).toMatchObject({
    status: 'failed',
    failure: 'It needed an answer and got none. It asked: May I?',
  });
  await use(alice, 'TaskClaim', { taskId: '2' });
  await use(alice, 'AskUser', { question: 'And now?', wait_seconds: 0 });
  await use(alice, 'TaskComplete', { taskId: '2', result: 'done' });
  expect((await asked(house))[1]).toMatchObject({ taskId: '2', status: 'withdrawn' });
});
