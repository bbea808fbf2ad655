import { expect, test } from 'vitest';
import type { TeamRequest } from '../../src/core/request.ts';
import { openApart } from '../mcp/apart.ts';
import { openTeam } from '../mcp/house.ts';
import { until } from '../until.ts';
import { landDuringTurn } from './apart-turn.ts';
import { ask, startMember } from './member.ts';

/** Short enough for a test; the steps follow each other in fifths of it. */
const SHORT = { model: 1_000, tool: 1_000 };

test('a silent turn is told, then ended and done again; if it is silent again, a person decides', async () => {
  const house = await openTeam(['ada']);
  const { create, task, member } = ask(house);
  await create('Think');
  const requests = () => house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'hang' });
  const ada = startMember(
    house,
    'ada',
    (turn, { count, signal }) => {
      // The first two turns hang.
      if (count > 2) return `did it in turn ${count}: ${turn.text}`;
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('ended'))),
      );
    },
    { silence: SHORT },
  );
  await until('it is told', async () =>
    JSON.stringify((await member('ada')).metadata?.['waiting'] ?? '').includes('nothing heard'),
  );
  const [request] = await until('a person is asked', async () => {
    const found = await requests();
    return found.length > 0 && found;
  });
  expect(ada.turns).toHaveLength(2);
  expect(ada.turns[1]?.text).toMatch(/^Your last turn was interrupted.*nothing heard.*Task #1: Think/s);
  expect(request?.content).toMatch(/^nothing heard for .* Yes ends this turn/);
  expect(await task('1')).toMatchObject({ status: 'in_progress' });
  await house.call('request.answer', { teamId: 'demo', requestId: request?.id, approve: true });
  await until('the task is done', async () => (await task('1')).status === 'completed');
  expect((await task('1')).result).toMatch(/^did it in turn 3/);
  expect((await member('ada')).metadata?.['waiting'] ?? null).toBeNull();
  // The report names both ends of a turn: the one that nobody was asked about, and the other.
  const { wrong } = await house.call<{ wrong: object[] }>('team.report', { teamId: 'demo' });
  expect(wrong).toMatchObject([
    {
      what: 'interrupted',
      memberId: 'ada',
      text: expect.stringMatching(/again, once\. Last: nothing heard/) as string,
    },
    { what: 'answered', kind: 'hang', memberId: 'ada' },
  ]);
  expect(ada.errors).toEqual([]);
});

test('a silent turn without a task is saved before it is ended, and its files stay as they are', async () => {
  const apart = await openApart({ files: { 'a.txt': 'one\n' } });
  const { play, land, atStop, hasBranch } = await landDuringTurn(apart);
  const options = { worksApart: true, silence: { model: 4_000, tool: 4_000 } };
  const alice = startMember(apart.house, 'alice', play, options);
  await land();
  // Only now the turn is silent.
  expect(await atStop).toBe('one\n');
  await hasBranch();
  expect(alice.errors).toEqual([]);
});

test('a turn with signs of life is left alone, also while it waits for a person', async () => {
  const house = await openTeam(['ada']);
  const { create, task } = ask(house);
  await create('Work');
  const asked = Promise.withResolvers<void>();
  const ada = startMember(
    house,
    'ada',
    async (_turn, { emit }) => {
      for (let i = 0; i < 8; i++) {
        emit({ type: 'text', text: 'still at it' });
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      const answered = new Promise<boolean>((resolve) => {
        emit({
          type: 'permission',
          id: 'p',
          tool: 'shell',
          description: 'make',
          input: { command: 'make' },
          answer: ({ allow }) => resolve(allow),
        });
      });
      asked.resolve();
      return `allowed: ${await answered}`;
    },
    { silence: SHORT },
  );
  await asked.promise;
  const [wish] = await until('a person is asked', async () => {
    const found = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'permission' });
    return found.length > 0 && found;
  });
  // Twice as long as a silent turn may be.
  await new Promise((resolve) => setTimeout(resolve, 2 * SHORT.model));
  await house.call('request.answer', { teamId: 'demo', requestId: wish?.id, approve: true });
  await until('the task is done', async () => (await task('1')).status === 'completed');
  expect((await task('1')).result).toBe('allowed: true');
  expect(ada.turns).toHaveLength(1);
  expect(await house.call('request.list', { teamId: 'demo', kind: 'hang' })).toEqual([]);
});

test('a program that waits for the answer of its user is left alone, and another one beside it is not', async () => {
  const house = await openTeam(['ada', 'bob']);
  const { create, task } = ask(house);
  await create('Ask', { assigneeId: 'ada' });
  await create('Hang', { assigneeId: 'bob' });
  const teamId = 'demo';
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<string>();
  const ada = startMember(
    house,
    'ada',
    async (_turn, { count }) => {
      // The answer is also a message, which comes with a turn of its own.
      if (count > 1) return 'took this one';
      await house.call('question.ask', { teamId, content: 'Which one?' }, 'ada');
      asked.resolve();
      return answered.promise;
    },
    { silence: SHORT },
  );
  await asked.promise;
  // Its clock begins later, so when it has run out twice, that of the first has had the time for it, too.
  const bob = startMember(
    house,
    'bob',
    (_turn, { signal }) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended')))),
    { silence: SHORT },
  );
  const hangs = () => house.call<TeamRequest[]>('request.list', { teamId, kind: 'hang' });
  await until('a person is asked about bob', async () => (await hangs()).length > 0);
  expect((await hangs()).map(({ memberId }) => memberId)).toEqual(['bob']);
  expect(ada.turns).toHaveLength(1);
  expect(bob.turns).toHaveLength(2);
  const [question] = await house.call<TeamRequest[]>('request.list', { teamId, kind: 'question' });
  await house.call('request.answer', { teamId, requestId: question?.id, approve: true, feedback: 'this one' });
  answered.resolve('got it');
  await until('the task is done', async () => (await task('1')).status === 'completed');
  expect((await task('1')).result).toBe('took this one');
});
