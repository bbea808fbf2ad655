import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acpAgent } from '../../src/agents/acp.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { waitingOf } from '../../src/core/waiting.ts';
import { openTeam } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { ask, Refused, startMember } from './member.ts';
import type { Play } from './member.ts';

const ACP = join(import.meta.dirname, '../fixtures/agents/acp.ts');

const did: Play = ({ task }) => `did ${task?.id}`;

/** An account of several members: refuses turns until `opens`, and counts them. */
function provider(end: Refused['end'], opens: () => boolean) {
  const asked: { at: number; isOpen: boolean }[] = [];
  const play: Play = (turn, stage) => {
    const isOpen = opens();
    asked.push({ at: Date.now(), isOpen });
    if (!isOpen) throw new Refused(end);
    stage.emit({ type: 'text', text: 'working' });
    return did(turn, stage);
  };
  return { asked, play };
}

describe('an account that reaches its limit', () => {
  test('makes all its members wait until it resets, and none of their tasks fails', async () => {
    const house = await openTeam(['ada', 'bob', 'cy']);
    const { create, task, member, events } = ask(house);
    const resetsAt = Date.now() + 3_000;
    const limited = provider({ trouble: 'limited', resetsAt }, () => Date.now() >= resetsAt);
    for (const title of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) await create(title);
    startMember(house, 'ada', limited.play, { account: 'claude' });
    const told = await until('ada waits', async () => waitingOf(await member('ada')));
    startMember(house, 'bob', limited.play, { account: 'claude' });
    const held = await task('1');
    expect(held).toMatchObject({ assigneeId: 'ada', status: 'in_progress' });
    expect(told).toMatch(/^limited until \d\d:\d\d \(claude\)$/);
    // The other account does what nobody holds.
    startMember(house, 'cy', did, { account: 'codex' });
    await until('all are done', async () => {
      const all = await Promise.all(['1', '2', '3', '4', '5', '6'].map(task));
      return all.every(({ status }) => status === 'completed');
    });
    expect((await task('1')).epoch).toBe(held.epoch);
    expect(await events('task:failed')).toEqual([]);
    // One refused turn found the limit; after that, nobody asked before the reset.
    expect(limited.asked.filter(({ isOpen }) => !isOpen)).toHaveLength(1);
    await until('ada waits no more', async () => waitingOf(await member('ada')) === undefined);
  });

  test('is tried by one member at a time if its provider names no time, and all go on when that works', async () => {
    const house = await openTeam(['ada', 'bob', 'cy']);
    const { create, task, events } = ask(house);
    let isOpen = false;
    let running = 0;
    let most = 0;
    const limited = provider({ trouble: 'overloaded' }, () => isOpen);
    const play: Play = async (turn, stage) => {
      most = Math.max(most, ++running);
      try {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return await limited.play(turn, stage);
      } finally {
        running--;
      }
    };
    const ada = startMember(house, 'ada', play, { account: 'claude', retryAfter: () => 100 });
    await create('One');
    await until('it is refused', () => ada.turns.length > 0);
    await until('it is known', async () => (await events('account:changed')).length > 0);
    for (const name of ['bob', 'cy']) startMember(house, name, play, { account: 'claude', retryAfter: () => 100 });
    await create('Two');
    await create('Three');
    await until('it was tried again', () => limited.asked.length > 4);
    expect(most).toBe(1);
    isOpen = true;
    await until('all are done', async () => {
      const all = await Promise.all(['1', '2', '3'].map(task));
      return all.every(({ status }) => status === 'completed');
    });
    expect(await events('task:failed')).toEqual([]);
  });

  test('is known to a member of another team, and to the next daemon', async () => {
    const house = await openTeam(['ada']);
    const { create, member } = ask(house);
    const limited = provider({ trouble: 'limited', resetsAt: Date.now() + 3_600_000 }, () => false);
    startMember(house, 'ada', limited.play, { account: 'claude' });
    await create('One');
    await until('ada waits', async () => (await member('ada')).metadata?.['waiting']);
    await house.call('team.create', { name: 'other' });
    await house.call('member.add', { teamId: 'other', name: 'eve' });
    await house.call('member.update', { teamId: 'other', memberId: 'eve', account: 'claude' });
    const entry = await house.call('account.enter', { teamId: 'other', memberId: 'eve' }, 'eve');
    expect(entry).toMatchObject({ free: false, account: { id: 'claude', limit: { cause: 'limited', known: true } } });
    const told = () => house.call<unknown[]>('account.list', { teamId: 'other' });
    await until('the other team has it in its own journal', async () => (await told()).length > 0);
    expect(await told()).toMatchObject([{ id: 'claude', limit: { cause: 'limited' } }]);
  });
});

describe('an account without a valid login', () => {
  test('asks a person once, with the command that logs in, and goes on after the yes', async () => {
    const house = await openTeam(['ada', 'bob']);
    const { create, task, member, events } = ask(house);
    let isLoggedIn = false;
    const login = provider({ trouble: 'unauthorised' }, () => isLoggedIn);
    for (const title of ['One', 'Two']) await create(title);
    startMember(house, 'ada', login.play, { account: 'claude' });
    startMember(house, 'bob', login.play, { account: 'claude' });
    const questions = () => house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'account' });
    const [question] = await until('a person is asked', async () => {
      const found = await questions();
      return found.length > 0 && found;
    });
    expect(question?.content).toMatch(/^The account claude is not logged in: .*\nLog in with: claude auth login\. Yes/);
    await until('ada waits', async () => waitingOf(await member('ada')) === 'not logged in (claude)');
    isLoggedIn = true;
    await house.call('request.answer', { teamId: 'demo', requestId: question?.id, approve: true });
    await until('all are done', async () => {
      const all = await Promise.all(['1', '2'].map(task));
      return all.every(({ status }) => status === 'completed');
    });
    expect(await questions()).toHaveLength(1);
    expect(await events('task:failed')).toEqual([]);
  });
});

test('an agent over ACP that starts without a login waits, and asks a person with the command that logs in', async () => {
  const house = await openTeam(['ada']);
  const { create, task, member, events } = ask(house);
  await create('One');
  const login = join(temporaryFolder(), 'login');
  // Gemini CLI by its row in the table, as a program that has no login yet.
  const agent = acpAgent({ name: 'gemini', command: [process.execPath, ACP, 'locked', login] });
  const ada = startMember(house, 'ada', did, { account: 'gemini', agent });
  const questions = () => house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'account' });
  const [question] = await until('a person is asked', async () => {
    const found = await questions();
    return found.length > 0 && found;
  });
  expect(question?.content).toMatch(
    /^The account gemini is not logged in: Gemini CLI did not start in .*: Authentication required\nLog in with: gemini\. Yes goes on/,
  );
  await until('it waits', async () => waitingOf(await member('ada')) === 'not logged in (gemini)');
  // It has not crashed, and has taken no task with it.
  expect(await task('1')).toMatchObject({ status: 'pending' });
  writeFileSync(login, '');
  await house.call('request.answer', { teamId: 'demo', requestId: question?.id, approve: true });
  await until('it is done', async () => (await task('1')).status === 'completed');
  expect(await questions()).toHaveLength(1);
  expect(await events('teammate:stopped')).toEqual([]);
  expect(ada.errors).toEqual([]);
});

describe('a conversation that is too long', () => {
  test('goes on in a fresh one, with a handover, and only once for a turn', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    const ada = startMember(house, 'ada', (turn, stage) => {
      const isTooLong = turn.task?.id === '1' ? stage.count === 1 : true;
      if (isTooLong) throw new Refused({ trouble: 'context' });
      return did(turn, stage);
    });
    await create('One');
    await until('it is done', async () => (await task('1')).status === 'completed');
    expect(ada.turns[1]?.text).toContain('Your conversation became too long');
    expect(ada.conversations()).toBe(2);
    await create('Two');
    await until('it has failed', async () => (await task('2')).status === 'failed');
    expect(ada.turns).toHaveLength(4);
  });
});

describe('a model that refuses', () => {
  const refuses: Play = () => {
    throw new Refused({ trouble: 'refused' });
  };
  const question = (house: House) =>
    until('a person is asked', async () => {
      const [found] = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'gate' });
      return found;
    });

  test('has completed nothing unless a person says so; the member goes on with other tasks meanwhile', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    const ada = startMember(house, 'ada', (turn, stage) =>
      turn.task?.title === 'Bad' ? refuses(turn, stage) : did(turn, stage),
    );
    await create('Bad');
    const { id, content } = await question(house);
    expect(content).toMatch(/^The model refused task #1\. Its answer: refused: refused\nNo gate judged it\./);
    await create('Good');
    await until('the other is done', async () => (await task('2')).status === 'completed');
    expect(await task('1')).toMatchObject({ status: 'in_progress', assigneeId: 'ada' });
    expect(ada.turns).toHaveLength(2);
    // No gives it back with a text, and it is tried once more.
    await house.call('request.answer', { teamId: 'demo', requestId: id, approve: false, feedback: 'It is allowed' });
    await until('it tries again', () => ada.turns.length === 3);
    expect(ada.turns[2]?.text).toContain('It is allowed');
    expect(ada.errors).toEqual([]);
  });

  test('has completed its task if a gate accepts what is there', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    await house.call('hook.register', { teamId: 'demo', type: 'TaskCompleted', command: 'grep -q Done' });
    const ada = startMember(house, 'ada', refuses);
    await create('Done before');
    await until('it is completed', async () => (await task('1')).status === 'completed');
    expect((await task('1')).result).toBe('refused: refused');
    await create('Other');
    expect((await question(house)).content).toContain('No gate judged it.');
    expect(ada.turns).toHaveLength(2);
  });
});
