import { describe, expect, test } from 'vitest';
import { QUESTION_BYTES } from '../../../src/core/limits.ts';
import { answerMessageId } from '../../../src/core/question.ts';
import { sameQuestion } from '../../../src/core/rules/question.ts';
import { teamOf, types } from '../stage.ts';
import type { InputOf, Stage } from '../stage.ts';

type Asked = InputOf<'request.raise'>;

/** Ann holds task 1; bob has none. */
function atWork(): Stage {
  const team = teamOf('ann', 'bob');
  team.task();
  team.as('ann', 'task.claim', { taskId: '1' });
  return team;
}

const question = (more: Partial<Asked> = {}): Asked => ({
  kind: 'question',
  memberId: 'ann',
  content: 'Tabs or spaces?',
  ...more,
});

/** Ann asks; the id of the request. */
function ask(team: Stage, more: Partial<Asked> = {}): string {
  const [raised] = team.as('ann', 'request.raise', question(more));
  if (raised?.type !== 'request:raised') throw new Error(raised?.type);
  return raised.requestId;
}

const mailOf = (team: Stage): string => [...team.state.messages.values()].at(-1)?.content ?? '';

describe('a question of a member', () => {
  test.each<[string, Partial<Asked>, string]>([
    ['empty', { content: ' \n' }, 'content: the question is empty'],
    [
      'too long',
      { content: 'ä'.repeat(QUESTION_BYTES / 2 + 1) },
      `content: a question has at most ${QUESTION_BYTES} bytes: put the rest in a file and name the file`,
    ],
    ['with equal choices', { question: { choices: ['a', 'b', 'a'] } }, 'choices: two are equal'],
    ['without any answer', { question: { freeText: false } }, 'choices: name some, or allow free text'],
    ['with another fallback', { question: { choices: ['a'], fallback: 'b' } }, 'fallback: must be one of the choices'],
    [
      'with a fallback, and a task that fails',
      { question: { choices: ['a'], fallback: 'a', otherwise: 'fail' } },
      'fallback: cannot go together with otherwise "fail"',
    ],
  ])('is refused if it is %s', (_what, more, message) => {
    expect(atWork().refuse('ann', 'request.raise', question(more))).toMatchObject({ code: 'invalid', message });
  });

  test('is not asked again while its answer is unread, also after its member was stopped', () => {
    const team = atWork();
    const requestId = ask(team);
    team.do('member.leave', { memberId: 'ann' });
    expect(team.state.requests.get(requestId)?.status).toBe('pending');
    team.as('@user', 'request.answer', { requestId, approve: true, feedback: 'tabs' });
    team.do('member.join', { name: 'ann' });
    team.as('ann', 'task.claim', { taskId: '1' });
    expect(team.as('ann', 'request.raise', question())).toEqual([]);
    expect(sameQuestion(team.state, { memberId: 'ann', content: 'Tabs or spaces?' })).toMatchObject({
      id: requestId,
      feedback: 'tabs',
    });
    team.as('ann', 'message.read', { memberId: 'ann', messageIds: [answerMessageId(requestId)] });
    expect(ask(team)).not.toBe(requestId);
  });

  test("is asked in nobody else's name, and waits as long as it says", () => {
    const team = atWork();
    expect(team.refuse('bob', 'request.raise', question()).message).toBe(
      'bob may not ask in the name of ann: only ann may',
    );
    const deadline = (id: string) => (team.state.requests.get(id)?.deadline?.getTime() ?? 0) - team.now;
    expect(deadline(ask(team, { content: 'Soon?', within: 5_000 }))).toBe(5_000);
    expect(deadline(ask(team, { content: 'Ever?' }))).toBe(24 * 3_600_000);
    const refusal = team.refuse('ann', 'request.raise', question({ content: ' ' }));
    expect(refusal.facts).toEqual({ problems: [{ field: 'content', problem: 'the question is empty' }] });
  });

  test('is asked once while it is open; other choices make it another one', () => {
    const team = atWork();
    const choices = ['tabs', 'spaces'];
    ask(team, { question: { choices } });
    expect(team.as('ann', 'request.raise', question({ question: { choices } }))).toEqual([]);
    ask(team, { question: { choices: ['tabs', 'both'] } });
    const last = ask(team);
    expect(team.as('ann', 'request.raise', question())).toEqual([]);
    expect(team.refuse('ann', 'request.raise', question({ content: 'And now?' }))).toMatchObject({
      code: 'limit',
      message: 'ann has 3 open questions, the limit: wait for an answer to one of them',
    });
    team.as('@user', 'request.answer', { requestId: last, approve: true, feedback: 'tabs' });
    ask(team, { content: 'And now?' });
  });

  test('is about the only task that the member holds, under its epoch, unless it names one', () => {
    const team = atWork();
    expect(team.state.requests.get(ask(team))).toMatchObject({ taskId: '1', detail: { epoch: 1 } });
    team.task();
    expect(team.state.requests.get(ask(team, { content: 'Why?', taskId: '2' }))).toMatchObject({ taskId: '2' });
    team.as('ann', 'task.claim', { taskId: '2' });
    const about = team.state.requests.get(ask(team, { content: 'Which?' }));
    expect([about?.taskId, about?.detail]).toEqual([undefined, undefined]);
    expect(team.refuse('ann', 'request.raise', question({ content: 'x', taskId: '9' })).code).toBe('not_found');
  });

  test('about a task needs no answer any more when that is over, but does when it was only given back', () => {
    for (const [end, status] of [
      [(team: Stage) => team.as('ann', 'task.complete', { taskId: '1' }), 'withdrawn'],
      [(team: Stage) => team.as('ann', 'task.fail', { taskId: '1', reason: 'no' }), 'withdrawn'],
      [(team: Stage) => team.do('task.delete', { taskId: '1' }), 'withdrawn'],
      [(team: Stage) => team.as('ann', 'task.release', { taskId: '1' }), 'pending'],
    ] as const) {
      const team = atWork();
      const id = ask(team, { taskId: '1' });
      const other = ask(team, { content: 'About nothing?', taskId: undefined });
      end(team);
      expect(team.state.requests.get(id)?.status).toBe(status);
      expect(team.state.requests.has(other)).toBe(true);
    }
  });

  test('fails no task that its member does not hold', () => {
    const team = atWork();
    const asked = question({ memberId: 'bob', taskId: '1', question: { otherwise: 'fail' } });
    expect(team.refuse('bob', 'request.raise', asked)).toMatchObject({
      code: 'invalid',
      message: 'otherwise: only a task can fail, and bob holds none: choose "go-on"',
    });
  });
});

describe('the answer to a question', () => {
  test.each<[string, Asked['question'], { choice?: string; feedback?: string }, string]>([
    ['no words', undefined, {}, 'needs an answer in words: give feedback'],
    ['blank words', { choices: ['a'] }, { feedback: ' ' }, 'needs an answer in words: give feedback or a choice'],
    ['another choice', { choices: ['a', 'b'] }, { choice: 'c' }, 'choice: "c" is none of "a", "b"'],
    ['words', { choices: ['a', 'b'], freeText: false }, { feedback: 'c' }, 'takes one of its choices: "a", "b"'],
  ])('is refused with %s', (_what, form, answer, message) => {
    const team = atWork();
    const requestId = ask(team, { question: form });
    expect(team.refuse('@user', 'request.answer', { requestId, approve: true, ...answer })).toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(new RegExp(`${message}$`)) as string,
    });
  });

  test('has no choice if the request has none', () => {
    const team = atWork();
    team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', content: 'May I?' });
    const requestId = [...team.state.requests.keys()].at(-1) ?? '';
    expect(team.refuse('@user', 'request.answer', { requestId, approve: true, choice: 'a' })).toMatchObject({
      code: 'invalid',
      message: `choice: request ${requestId} has no choices: answer yes or no`,
    });
  });

  test.each<[string, string, boolean, { choice?: string; feedback?: string }, string]>([
    ['a choice', '@user', true, { choice: 'tabs', feedback: 'as before' }, 'The answer: tabs\nas before'],
    [
      'a no',
      '@user',
      false,
      { feedback: 'You know best' },
      'Your user leaves it to you: go on as you think best. You know best',
    ],
    ['no answer in time', '@system', false, {}, 'Nobody answered in time: go on as you think best. '],
  ])('reaches the member as a message: %s', (_what, by, approve, answer, said) => {
    const team = atWork();
    const requestId = ask(team, { question: { choices: ['tabs', 'spaces'] } });
    const events = team.as(by, 'request.answer', { requestId, approve, ...answer });
    expect(events).toMatchObject([
      { type: 'request:answered', kind: 'question', approved: approve },
      {
        type: 'message:sent',
        messageType: by === '@user' ? 'direct' : 'system',
        copies: [{ toId: 'ann' }],
        summary: `answer to ${requestId}`,
        priority: 'normal',
        metadata: { requestId },
      },
    ]);
    expect(mailOf(team)).toBe(`You asked: Tabs or spaces?\n${said}`);
  });

  test.each([
    ['@user', 'Your user leaves it to you: the default counts. The answer: tabs'],
    ['@system', 'Nobody answered in time: the default counts. The answer: tabs'],
  ])('is its fallback if %s says no', (by, said) => {
    const team = atWork();
    const requestId = ask(team, { question: { choices: ['tabs', 'spaces'], fallback: 'tabs' } });
    team.as(by, 'request.answer', { requestId, approve: false });
    expect(mailOf(team)).toContain(said);
  });

  test.each([
    ['@system', {}, 'It needed an answer and got none. It asked: Tabs or spaces?'],
    ['@user', { feedback: 'Drop it.' }, 'It needed an answer and got none. Drop it. It asked: Tabs or spaces?'],
  ])('that is a no of %s fails the task, if the member said so', (by, more, failure) => {
    const team = atWork();
    const requestId = ask(team, { question: { otherwise: 'fail' } });
    const events = team.as(by, 'request.answer', { requestId, approve: false, ...more });
    expect(types(events)).toEqual(['request:answered', 'task:failed']);
    expect(team.view('1')).toMatchObject({ status: 'failed', failure });
  });

  test('that is a no fails no task that changed hands since; the member is told instead', () => {
    const given = atWork();
    const requestId = ask(given, { question: { otherwise: 'fail' } });
    given.as('ann', 'task.release', { taskId: '1' });
    given.as('bob', 'task.claim', { taskId: '1' });
    const events = given.as('@system', 'request.answer', { requestId, approve: false });
    expect(types(events)).toEqual(['request:answered', 'message:sent']);
    expect(given.view('1')).toMatchObject({ status: 'in_progress', assigneeId: 'bob' });

    const again = atWork();
    const second = ask(again, { question: { otherwise: 'fail' } });
    again.as('ann', 'task.release', { taskId: '1' });
    again.as('ann', 'task.claim', { taskId: '1' });
    again.as('@system', 'request.answer', { requestId: second, approve: false });
    expect(again.view('1')).toMatchObject({ status: 'in_progress', assigneeId: 'ann' });
  });
});

test('the answer reaches the member that asked, whatever ids others chose for messages', () => {
  const team = teamOf('ann', 'bob', 'answer');
  team.as('ann', 'request.raise', question());
  const [requestId = ''] = team.state.requests.keys();
  team.as('bob', 'message.send', { messageId: `answer-${requestId}`, toId: 'lead', content: 'x' });
  team.as('bob', 'message.broadcast', { messageId: 'answer', content: 'x' });
  expect(
    team.refuse('bob', 'message.send', { messageId: `answer/${requestId}`, toId: 'lead', content: 'x' }).code,
  ).toBe('invalid');
  const before = team.state.messages.size;
  team.as('@user', 'request.answer', { requestId, approve: true, feedback: 'No!' });
  expect(team.state.messages.size).toBe(before + 1);
  const { id = '', fromId, toId } = [...team.state.messages.values()].at(-1) ?? {};
  expect([fromId, toId]).toEqual(['@user', 'ann']);
  expect(team.state.index.inboxes.get('ann')?.waiting).toContain(id);
});

test('a question about a task is withdrawn when the task ends, not when it is given back', () => {
  const team = teamOf('ann');
  team.task();
  team.as('ann', 'task.claim', { taskId: '1' });
  for (const kind of ['question', 'permission'] as const) {
    team.as('ann', 'request.raise', { kind, memberId: 'ann', taskId: '1', content: 'Which?' });
  }
  const statuses = () => [...team.state.requests.values()].map(({ status }) => status);
  team.as('ann', 'task.release', { taskId: '1' });
  expect(statuses()).toEqual(['pending', 'pending']);
  team.as('ann', 'task.claim', { taskId: '1' });
  team.as('ann', 'task.complete', { taskId: '1' });
  expect(statuses()).toEqual(['withdrawn', 'pending']);
});
