import { expect, test } from 'vitest';
import type { EventOf } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { isTrouble, lastFailed, requestsToPerson, situationOf } from '../../src/core/situation.ts';
import { createState } from '../../src/core/state.ts';
import { WORK } from '../samples/work.ts';
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

test('a team that ends or has ended says only that', () => {
  const team = teamWithAgents('ann');
  team.as('@user', 'team.update', { status: 'shutting-down' });
  expect(textOf(team)).toBe('Shutting down');
  team.as('@user', 'team.close', { force: true });
  expect(textOf(team)).toBe('Closed');
  expect(situationOf(createState('alpha'), 0)).toEqual({ kind: 'closed', word: 'Closed', text: 'Closed' });
  expect(requestsToPerson(createState('alpha'))).toEqual([]);
});

test.each<[string, (team: Stage) => unknown]>([
  ['Nobody can take 1 task: its lead lead has stopped', (team) => (leave(team, 'lead'), team.pass(3_600_000))],
  [
    'Nobody can take 1 task: its members are leaving',
    (team) => (leave(team, 'ann'), team.join('bob'), shutDown(team, 'bob')),
  ],
  ['Nobody can take 1 task: no member runs that could', (team) => leave(team, 'ann')],
  ['Nobody can take 1 task: #1 is withheld: of another list', (team) => withhold(team)],
  [
    'Nobody can take 1 task: its lead only coordinates',
    (team) => {
      team.do('task.assign', { taskId: '1', assigneeId: 'lead' });
      team.as('@user', 'team.update', { delegateMode: true });
      leave(team, 'ann');
    },
  ],
  [
    'Nobody can take 1 task: reserved for bob',
    (team) => {
      team.join('bob');
      team.do('task.assign', { taskId: '1', assigneeId: 'bob' });
      shutDown(team, 'bob');
    },
  ],
  [
    'Nobody can take 1 task: #1 is reserved for ann, which has stopped',
    (team) => {
      team.do('task.assign', { taskId: '1', assigneeId: 'ann' });
      // As journals of other programs may say it: Troupe itself frees the task, too.
      evolve(team.state, { type: 'teammate:stopped', at: team.now, by: '@system', memberId: 'ann' });
    },
  ],
])('%s', (text, happen) => {
  const team = teamWithAgents('ann');
  team.task();
  idle(team, 'ann');
  happen(team);
  expect(textOf(team)).toBe(text);
});

function leave(team: Stage, memberId: string): void {
  team.as('@user', 'member.leave', { memberId });
}

function shutDown(team: Stage, memberId: string): void {
  team.do('shutdown.request', { memberId });
  const request = [...team.state.requests.values()].find(({ kind }) => kind === 'shutdown');
  team.as(memberId, 'shutdown.approve', { requestId: request?.id ?? '' });
}

function withhold(team: Stage): void {
  evolve(team.state, { type: 'task:updated', at: team.now, by: '@system', taskId: '1', withheld: 'of another list' });
}

test('a task that waits for the hooks that judge it is no trouble', () => {
  const team = teamWithAgents('ann');
  team.task();
  evolve(team.state, { ...(team.events.at(-1) as EventOf<'task:created'>), taskId: '2', unjudged: true });
  team.do('task.delete', { taskId: '1' });
  idle(team, 'ann');
  expect(textOf(team)).toBe('Quiet');
});

test('of several failed tasks the last one counts, and each that waits once', () => {
  const team = teamWithAgents('ann');
  const [one, two] = [team.task(), team.task()];
  const both = team.task({ dependencies: [one, two] });
  team.task({ dependencies: [one, both] });
  team.task({ dependencies: [two], onDependencyFailure: 'proceed' });
  fail(team, two, 'ann');
  fail(team, one, 'ann');
  team.as('ann', 'task.claim', { taskId: '5' });
  team.as('ann', 'task.complete', { taskId: '5' });
  idle(team, 'ann');
  expect(textOf(team)).toBe(`Stuck: #${one}, #${two} failed and 2 wait for them`);
  expect(lastFailed(team.state)?.id).toBe(one);
  team.do('task.delete', { taskId: '4' });
  expect(textOf(team)).toBe(`Stuck: #${one}, #${two} failed and 1 waits for them`);
});

test('a team without tasks is quiet; the longest silence is told first', () => {
  const team = teamWithAgents('ann', 'bob');
  for (const name of ['ann', 'bob']) idle(team, name);
  expect(textOf(team)).toBe('Quiet');
  const quiet = (memberId: string, minutes: number) =>
    team.as(memberId, 'member.change', {
      memberId,
      metadata: { waiting: { reason: 'quiet', silentSince: team.now - minutes * 60_000 } },
    });
  quiet('ann', 20);
  quiet('bob', 30);
  expect(situationOf(team.state, team.now)).toMatchObject({ text: 'Silent for 30 min: bob, ann', memberId: 'bob' });
});

test('a team is limited only if none of its agents can begin a turn', () => {
  const team = teamWithAgents('ann', 'bob');
  for (const name of ['ann', 'bob']) idle(team, name);
  const limit = {
    cause: 'limited',
    reason: 'used up',
    since: 1,
    until: team.now + 3_600_000,
    known: true,
    tries: 1,
  } as const;
  team.as('@system', 'account.set', { account: 'claude', limit });
  team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
  // Of the other's account nothing is known.
  expect(situationOf(team.state, team.now).kind).toBe('quiet');
  team.as('bob', 'member.change', { memberId: 'bob', account: 'claude' });
  expect(situationOf(team.state, team.now)).toMatchObject({ kind: 'limited', account: 'claude' });
  expect(situationOf(team.state, limit.until).kind).toBe('quiet');
});

test('a team that works apart is quiet while its agents are idle, also if a task is free', () => {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: WORK });
  team.do('member.join', { name: 'ann', agent });
  idle(team, 'ann');
  expect(situationOf(team.state, team.now)).toEqual({ kind: 'quiet', word: 'Quiet', text: 'Quiet' });
  team.task();
  expect(situationOf(team.state, team.now)).toEqual({ kind: 'quiet', word: 'Quiet', text: 'Quiet' });
});

test('the task that failed last is named, whatever its number', () => {
  const team = teamWithAgents('ann');
  const [one, two] = [team.task(), team.task()];
  fail(team, one, 'ann');
  fail(team, two, 'ann');
  expect(lastFailed(team.state)?.id).toBe(two);
});

test('a task that goes on without a failed one does not wait for it', () => {
  const team = teamWithAgents('ann');
  const first = team.task();
  team.task({ dependencies: [first] });
  const proceeding = team.task({ dependencies: [first], onDependencyFailure: 'proceed' });
  fail(team, first, 'ann');
  team.do('task.assign', { taskId: proceeding, assigneeId: 'ann' });
  team.do('member.leave', { memberId: 'ann', returning: false });
  expect(textOf(team)).toBe(`Stuck: #${first} failed and 1 waits for it`);
});

test('only failed tasks for which others wait keep a team stuck', () => {
  const team = teamWithAgents('ann');
  const [alone, first] = [team.task(), team.task()];
  team.task({ dependencies: [first] });
  for (const id of [alone, first]) fail(team, id, 'ann');
  idle(team, 'ann');
  expect(situationOf(team.state, team.now)).toStrictEqual({
    kind: 'stuck',
    word: 'Stuck',
    text: `Stuck: #${first} failed and 1 waits for it`,
    taskId: first,
  });
});

test('a member of a team without a parent that stops leaves no team that rests', () => {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', parent: { teamId: 'beta', memberId: 'rev', taskId: '3' } });
  team.do('member.join', { name: 'ann', agent });
  idle(team, 'ann');
  expect(textOf(team)).toBe('Quiet');
});

test('a lead takes only what is reserved for it', () => {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', leadAgent: agent, leadAgentType: 'exec' });
  team.task();
  idle(team, 'lead');
  expect(textOf(team)).toBe('Nobody can take 1 task: no member runs that could');
  team.do('task.assign', { taskId: '1', assigneeId: 'lead' });
  expect(textOf(team)).toBe('Quiet');
});
