import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TeamRequest } from '../../src/core/request.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { openApart } from '../mcp/apart.ts';
import { openTeam } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { plainGit } from '../workspaces/project.ts';
import { landDuringTurn } from './apart-turn.ts';
import { ask, startMember } from './member.ts';
import type { Play } from './member.ts';

const did: Play = ({ task }) => `did ${task?.title ?? 'mail'}`;

async function openThrifty(turns: number): Promise<House> {
  const house = await openTeam(['bob']);
  await house.call('member.add', { teamId: 'demo', name: 'ada', budget: { turns } });
  return house;
}

const question = (house: House): Promise<TeamRequest> =>
  until('a person is asked', async () => {
    const requests = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', status: 'pending' });
    return requests.find(({ kind }) => kind === 'budget');
  });

const rests = (house: House) => async (): Promise<boolean> => (await ask(house).member('ada')).status === 'idle';

test('no turn begins after the budget is used up, until a person raises it; the lead gets a message at 80 %', async () => {
  const house = await openThrifty(5);
  const { create, count } = ask(house);
  for (let i = 1; i <= 9; i++) await create(`Task ${i}`);
  const ada = startMember(house, 'ada', did);
  const { id } = await question(house);
  await until('it rests', rests(house));
  expect(ada.turns).toHaveLength(5);
  expect(await count('in_progress')).toBe(0);
  const inbox = await house.call<{ content: string }[]>('message.inbox', { teamId: 'demo', memberId: 'lead' });
  expect(inbox[0]?.content).toContain('4 turns of 5 turns is used');
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  await until('all is done', async () => (await count('completed')) === 9);
  expect(await house.call('budget.show', { teamId: 'demo', memberId: 'ada' })).toMatchObject([
    { of: 'member', what: 'turns', used: 9, limit: 10 },
  ]);
});

test('the usage that the agent itself reports counts once', async () => {
  const house = await openThrifty(5);
  const { create, task } = ask(house);
  startMember(house, 'ada', (_turn, { emit }) => {
    emit({ type: 'usage', usage: { ...NO_USAGE, turns: 2, inputTokens: 7 } });
    return 'done';
  });
  await create('One');
  await until('it is done', async () => (await task('1')).status === 'completed');
  const usage = await house.call<{ members: object; tasks: object }>('usage.show', { teamId: 'demo' });
  expect(usage).toMatchObject({ members: { ada: { turns: 2, inputTokens: 7 } }, tasks: { 1: { turns: 2 } } });
});

test('a member without budget goes idle, even if a hook would keep it at work', async () => {
  const house = await openThrifty(1);
  await house.call('hook.register', { teamId: 'demo', type: 'TeammateIdle', command: 'echo look again >&2; exit 2' });
  await ask(house).create('One');
  const ada = startMember(house, 'ada', did);
  await question(house);
  await until('it rests', rests(house));
  expect(ada.turns).toHaveLength(1);
});

test('work that a gate rejects when the budget is used up waits for more budget, and may be reassigned', async () => {
  const house = await openThrifty(1);
  const { create, task } = ask(house);
  await house.call('hook.register', { teamId: 'demo', type: 'TaskCompleted', command: 'echo no >&2; exit 2' });
  await create('One');
  const ada = startMember(house, 'ada', did);
  const { id } = await question(house);
  await until('it was sent back', async () => (await task('1')).rejections === 1);
  await house.call('task.assign', { teamId: 'demo', taskId: '1', assigneeId: 'bob' });
  await until('it rests', rests(house));
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  await ask(house).send('ada', 'hello');
  await until('it goes on', () => ada.turns.length === 2);
  expect(ada.turns[1]).toMatchObject({ task: undefined, messages: [{ content: 'hello' }] });
});

test('messages that were taken for a turn that could not begin are shown in a later one', async () => {
  const house = await openThrifty(1);
  const { create, send, task } = ask(house);
  await house.call('hook.register', { teamId: 'demo', type: 'TaskCompleted', command: 'echo no >&2; exit 2' });
  const ada = startMember(house, 'ada', async (turn, { count }) => {
    if (count === 1) await send('ada', 'hello');
    return did(turn, undefined as never);
  });
  await create('One');
  const { id } = await question(house);
  await until('it was sent back', async () => (await task('1')).rejections === 1);
  await until('its mail was taken', async () => {
    const [mail] = await house.call<{ deliveredAt?: Date }[]>('message.inbox', { teamId: 'demo', memberId: 'ada' });
    return mail?.deliveredAt;
  });
  await house.call('task.assign', { teamId: 'demo', taskId: '1', assigneeId: 'bob' });
  await until('it rests', rests(house));
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  await until('it has its mail', () => ada.turns.length === 2);
  expect(ada.turns[1]?.messages).toMatchObject([{ content: 'hello' }]);
});

const LONG = 600_000;

/** The first turn lasts until it is interrupted or let go; the others end at once. */
function longTurn() {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<string>();
  const interrupted = Promise.withResolvers<void>();
  const play: Play = (turn, { count, signal }) => {
    if (count > 1) return `turn ${count}: ${turn.text}`;
    signal.addEventListener('abort', () => interrupted.resolve());
    begun.resolve();
    return go.promise;
  };
  return { play, begun: begun.promise, interrupted: interrupted.promise, letGo: () => go.resolve('finished') };
}

const spend = (house: House, memberId: string, outputTokens: number): Promise<unknown> =>
  house.call('usage.record', {
    teamId: 'demo',
    memberId,
    usage: { outputTokens },
    ...(memberId === 'ada' && { taskId: '1' }),
  });

test('a turn that runs when the budget is used up is told, then interrupted; it goes on when a person raises it', async () => {
  const house = await openTeam(['bob']);
  await house.call('member.add', { teamId: 'demo', name: 'ada', budget: { tokens: 1_000 } });
  const { create, task } = ask(house);
  await create('Think');
  const { play, begun, interrupted } = longTurn();
  const told: string[] = [];
  const live = { steer: async ({ text }: { text: string }) => (told.push(text), true) };
  const ada = startMember(house, 'ada', play, { abilities: { steer: true }, live, graceMs: LONG });
  await begun;
  await spend(house, 'ada', 1_000);
  const { id, content } = await question(house);
  expect(content).toMatch(/^The budget of ada: 1000 tokens of 1000 tokens is used\. Most of it on task #1 "Think"/);
  await until('it is told', () => told.length > 0);
  expect(told[0]).toMatch(/^Troupe: The budget of ada: 1000 tokens of 1000 tokens is used.*interrupted in 10 minutes/);
  expect(ada.turns).toHaveLength(1);
  // Far beyond the limit, the grace is over.
  await spend(house, 'ada', 100);
  await interrupted;
  expect(await task('1')).toMatchObject({ status: 'in_progress' });
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  await until('the task is done', async () => (await task('1')).status === 'completed');
  expect(ada.turns).toHaveLength(2);
  expect((await task('1')).result).toMatch(/^turn 2: Your last turn was interrupted.*The budget of ada: 1100 tokens/s);
  expect(told).toHaveLength(1);
  expect(ada.errors).toEqual([]);
});

test('when the grace is over, the work is saved by git before the turn is interrupted, and goes on from there', async () => {
  const { house, folder } = await openApart();
  const { create, task } = ask(house);
  await house.call('member.update', { teamId: 'demo', memberId: 'alice', budget: { tokens: 1_000 } });
  await create('Think');
  const workspace = await folder('alice');
  const { depot = '' } = await house.call<ResultOf<'work.show'>>('work.show', { teamId: 'demo' });
  const begun = Promise.withResolvers<void>();
  /** What git has when the agent is told to stop, without any wait. */
  const atStop = Promise.withResolvers<string>();
  const alice = startMember(
    house,
    'alice',
    (_turn, { count, signal }) => {
      if (count > 1) return `turn ${count} has ${readFileSync(join(workspace, 'late.txt'), 'utf8')}`;
      begun.resolve();
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          const [ref = ''] = plainGit(depot, 'for-each-ref', '--format=%(refname)', 'refs/saves').split('\n');
          atStop.resolve(ref === '' ? 'no save' : plainGit(depot, 'show', `${ref}:late.txt`));
          reject(new Error('ended'));
        }),
      );
    },
    { worksApart: true, graceMs: LONG },
  );
  await begun.promise;
  const use = (outputTokens: number) =>
    house.call('usage.record', { teamId: 'demo', memberId: 'alice', taskId: '1', usage: { outputTokens } });
  await use(1_000);
  const { id } = await question(house);
  writeFileSync(join(workspace, 'late.txt'), 'half done');
  await use(100);
  expect(await atStop.promise).toBe('half done');
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  await until('the task is done', async () => (await task('1')).status === 'completed');
  expect(await task('1')).toMatchObject({ result: 'turn 2 has half done', work: { state: 'landed', files: 1 } });
  expect(alice.errors).toEqual([]);
});

test('when the grace of a turn without a task is over, its files stay as they are until the agent has stopped', async () => {
  const apart = await openApart({
    files: { 'a.txt': 'one\n', '.gitignore': 'made\n' },
    setup: 'echo >> made',
  });
  const { house } = apart;
  await house.call('member.update', { teamId: 'demo', memberId: 'alice', budget: { tokens: 1_000 } });
  const { play, land, atStop, hasBranch } = await landDuringTurn(apart);
  const alice = startMember(house, 'alice', play, { worksApart: true, graceMs: LONG });
  await land();

  const usage = { outputTokens: 1_100 };
  await house.call('usage.record', { teamId: 'demo', memberId: 'alice', usage });
  expect(await atStop).toBe('one\n');
  await hasBranch();
  expect(alice.errors).toEqual([]);
});

test('if a person raises the budget of the team within the grace, the running turn goes on', async () => {
  const house = await openTeam(['bob']);
  await house.call('team.update', { teamId: 'demo', budget: { tokens: 1_000 } });
  await house.call('member.add', { teamId: 'demo', name: 'ada', agent: { kind: 'function' } });
  const { create, task } = ask(house);
  await create('Think');
  const { play, begun, letGo } = longTurn();
  const ada = startMember(house, 'ada', play, { graceMs: LONG });
  await begun;
  // Another member uses it up.
  await spend(house, 'bob', 1_050);
  const { id, content } = await question(house);
  expect(content).toContain('Most of it by bob (1050 tokens)');
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  // More than 110 % of the old limit, less than 100 % of the new one.
  await spend(house, 'bob', 500);
  await new Promise((resolve) => setTimeout(resolve, 300));
  letGo();
  await until('the task is done', async () => (await task('1')).status === 'completed');
  expect(await task('1')).toMatchObject({ result: 'finished' });
  expect(ada.turns).toHaveLength(1);
});

test('a time budget ends the running turn by a clock', async () => {
  const house = await openTeam(['bob']);
  await house.call('member.add', { teamId: 'demo', name: 'ada', budget: { minutes: 1 / 60 } });
  const { create, task } = ask(house);
  await create('Think');
  const { play, interrupted } = longTurn();
  startMember(house, 'ada', play);
  const { id } = await question(house);
  await interrupted;
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  await until('the task is done', async () => (await task('1')).status === 'completed');
  expect((await task('1')).result).toMatch(
    /^turn 2: Your last turn was interrupted.*The budget of ada: .* of 1000 ms is used/s,
  );
});

test('the budget of a task ends its running turn, and other tasks go on; a no ends the task', async () => {
  const house = await openTeam(['ada', 'bob']);
  const { task } = ask(house);
  await house.call('task.create', { teamId: 'demo', title: 'Think', budget: { tokens: 1_000 }, assigneeId: 'ada' });
  await house.call('task.create', { teamId: 'demo', title: 'Other', assigneeId: 'bob' });
  const { play, begun, interrupted } = longTurn();
  const told: string[] = [];
  const live = { steer: async ({ text }: { text: string }) => (told.push(text), true) };
  const ada = startMember(house, 'ada', play, { abilities: { steer: true }, live, graceMs: LONG });
  await begun;
  await spend(house, 'ada', 1_000);
  const { id, content, taskId } = await question(house);
  expect(taskId).toBe('1');
  expect(content).toMatch(
    /^The budget of task #1: 1000 tokens of 1000 tokens is used\. The task is "Think", held by ada\. Yes allows 1000/,
  );
  await until('it is told', () => told.length > 0);
  expect(told[0]).toContain('The budget of task #1');
  await spend(house, 'ada', 100);
  await interrupted;
  await until('it waits', async () => (await ask(house).member('ada')).metadata?.['waiting'] !== undefined);
  // Another member, and another task, are not concerned.
  startMember(house, 'bob', did);
  await until('the other is done', async () => (await task('2')).status === 'completed');
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: false });
  expect(await task('1')).toMatchObject({ status: 'failed', failure: expect.stringContaining('1100 tokens of 1000') });
  await ask(house).send('ada', 'hello');
  await until('it goes on', () => ada.turns.length === 2);
  expect(ada.turns[1]).toMatchObject({ task: undefined });
  expect(ada.errors).toEqual([]);
});

test('a task with a budget of one turn is completed by its turn without a question; a second turn needs a yes', async () => {
  const house = await openTeam(['ada']);
  const { task } = ask(house);
  await house.call('hook.register', {
    teamId: 'demo',
    type: 'TaskCompleted',
    command: 'grep -q Easy && exit 0; [ -e again ] && exit 0; touch again; echo no >&2; exit 2',
    cwd: temporaryFolder(),
  });
  for (const title of ['Easy', 'Hard']) {
    await house.call('task.create', { teamId: 'demo', title, budget: { turns: 1 } });
  }
  startMember(house, 'ada', did);
  const { id, taskId } = await question(house);
  expect(taskId).toBe('2');
  expect(await task('1')).toMatchObject({ status: 'completed' });
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  await until('it is done', async () => (await task('2')).status === 'completed');
  const asked = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'budget' });
  expect(asked).toHaveLength(1);
});

test('the time budget of a task ends its running turn by a clock', async () => {
  const house = await openTeam(['ada']);
  const { task } = ask(house);
  await house.call('task.create', { teamId: 'demo', title: 'Think', budget: { minutes: 1 / 60 } });
  const { play, interrupted } = longTurn();
  startMember(house, 'ada', play);
  const { id } = await question(house);
  await interrupted;
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true });
  await until('the task is done', async () => (await task('1')).status === 'completed');
});
