import { expect, test } from 'vitest';
import { isTrouble, situationOf } from '../../src/core/situation.ts';
import { Stage, teamOf } from './stage.ts';

const agent = { kind: 'exec', command: ['true'] } as const;

function teamWithAgents(...names: string[]): Stage {
  const team = teamOf();
  for (const name of names) team.do('member.join', { name, agent });
  return team;
}

const textOf = (team: Stage): string => situationOf(team.state, team.now).text;

function fail(team: Stage, taskId: string, by: string): void {
  team.as(by, 'task.claim', { taskId });
  team.as(by, 'task.fail', { taskId, reason: 'no disk' });
}

function idle(team: Stage, memberId: string): void {
  team.as(memberId, 'member.change', { memberId, status: 'idle' });
}

test('a team whose tasks wait for a failed one is stuck, and names it', () => {
  const team = teamWithAgents('ann');
  const first = team.task();
  const second = team.task({ dependencies: [first] });
  team.task({ dependencies: [second] });
  expect(textOf(team)).toBe('Running');
  fail(team, first, 'ann');
  idle(team, 'ann');
  expect(situationOf(team.state, team.now)).toMatchObject({
    kind: 'stuck',
    text: `Stuck: #${first} failed and 2 wait for it`,
    taskId: first,
  });
});

test('tasks that nobody can take say why', () => {
  const team = teamWithAgents('ann');
  const task = team.task();
  idle(team, 'ann');
  expect(textOf(team)).toBe('Quiet');
  team.do('member.leave', { memberId: 'ann' });
  expect(situationOf(team.state, team.now)).toMatchObject({
    kind: 'unclaimed',
    text: 'Nobody can take 1 task: no member runs that could',
    taskId: task,
  });
});

test('a team inside a member that rests is no trouble', () => {
  const team = new Stage();
  const parent = { teamId: 'beta', memberId: 'rev', taskId: '3' };
  team.as('@user', 'team.create', { name: 'alpha', parent });
  team.do('member.join', { name: 'ann', agent });
  team.task();
  team.do('member.leave', { memberId: 'ann' });
  const found = situationOf(team.state, team.now);
  expect(found).toMatchObject({ word: 'Resting', text: 'Resting: rev of team beta does not work on task #3 now' });
  expect(isTrouble(found)).toBe(false);
});

test('a person who must answer comes first, then limits, silence and work', () => {
  const team = teamWithAgents('ann', 'bob');
  const task = team.task();
  team.as('ann', 'task.claim', { taskId: task });
  expect(textOf(team)).toBe('Running');
  team.as('ann', 'member.change', {
    memberId: 'ann',
    metadata: { waiting: { reason: 'nothing heard', silentSince: team.now - 12 * 60_000 } },
  });
  expect(situationOf(team.state, team.now)).toMatchObject({
    kind: 'silent',
    word: 'Silent for 12 min',
    memberId: 'ann',
  });
  const until = team.now + 3_600_000;
  for (const memberId of ['ann', 'bob']) {
    team.as(memberId, 'member.change', { memberId, account: 'claude' });
  }
  team.as('ann', 'account.report', { memberId: 'ann', cause: 'limited', resetsAt: until, reason: 'usage limit' });
  expect(textOf(team)).toMatch(/^Limited until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d \(claude\)$/);
  team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', content: 'ls' });
  expect(textOf(team)).toBe('Needs you: permission of ann');
});

test('a team without open tasks is done, or names what failed', () => {
  const team = teamWithAgents('ann');
  expect(textOf(team)).not.toBe('All completed');
  const task = team.task();
  team.as('ann', 'task.claim', { taskId: task });
  team.as('ann', 'task.complete', { taskId: task });
  idle(team, 'ann');
  expect(textOf(team)).toBe('All completed');
  const other = team.task();
  fail(team, other, 'ann');
  idle(team, 'ann');
  expect(situationOf(team.state, team.now)).toMatchObject({ kind: 'failed', text: '1 task failed, 1 completed' });
});
