import { describe, expect, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { describeTask } from '../../src/core/obstacles.ts';
import { createState } from '../../src/core/state.ts';
import { requireMember, requireTask, requireTeam, sameSince, viewMember, viewTeam } from '../../src/core/view.ts';
import { Stage, teamOf } from './stage.ts';

test('a former lead is shown as a teammate', () => {
  const team = teamOf('ann');
  const roleOf = (id: string): string => viewMember(team.state, requireMember(team.state, id)).role;
  expect(roleOf('lead')).toBe('lead');
  team.do('team.update', { leadId: 'ann' });
  expect(roleOf('lead')).toBe('teammate');
  team.as('@user', 'team.update', { leadId: 'lead' });
  expect(roleOf('lead')).toBe('lead');
});

describe('a task as the faces show it', () => {
  test('is blocked while a dependency is open, and names it', () => {
    const team = teamOf('ann');
    const [a, b, c] = [team.task(), team.task(), team.task()] as const;
    team.do('task.addDependencies', { taskId: b, dependencies: [a] });
    team.as('ann', 'task.claim', { taskId: a });
    team.do('task.fail', { taskId: c, reason: 'line one\nline two' });
    const taskId = team.task({ dependencies: [a, b, c] });
    expect(team.view(taskId)).toMatchObject({
      status: 'blocked',
      blockedBy: [a, b, c],
      blockedReason: String.raw`waits for task 1 (in progress, held by ann), task 2 (blocked), task 3 (failed: "line one line two")`,
    });
    expect(team.state.tasks.get(taskId)?.status).toBe('pending');
    expect(team.view(a).blocks).toEqual([b, taskId]);
  });

  test('does not list deleted dependents', () => {
    const team = teamOf();
    const first = team.task();
    const second = team.task({ dependencies: [first] });
    const third = team.task({ dependencies: [first] });
    team.do('task.delete', { taskId: second });
    expect(team.view(first).blocks).toEqual([third]);
    team.do('task.reopen', { taskId: second });
    expect(team.view(first).blocks).toEqual([second, third]);
    expect(team.view(second)).toMatchObject({ status: 'blocked', blockedBy: [first] });
  });

  test('lists its dependents by number, not by text', () => {
    const team = teamOf();
    const first = team.task();
    for (let i = 0; i < 10; i++) team.task({ dependencies: [first] });
    expect(team.view(first).blocks).toEqual(['2', '3', '4', '5', '6', '7', '8', '9', '10', '11']);
  });
});

test('a task is described in a few words', () => {
  const team = teamOf('ann');
  const free = team.task();
  const held = team.task();
  const blocked = team.task({ dependencies: [free] });
  const done = team.task();
  const failed = team.task();
  const deleted = team.task();
  team.as('ann', 'task.claim', { taskId: held });
  team.do('task.complete', { taskId: done });
  team.do('task.fail', { taskId: failed, reason: '' });
  team.do('task.delete', { taskId: deleted });
  expect([free, held, blocked, done, failed, deleted, '99'].map((id) => describeTask(team.state, id))).toEqual([
    'task 1 (pending)',
    'task 2 (in progress, held by ann)',
    'task 3 (blocked)',
    'task 4 (completed)',
    'task 5 (failed: "")',
    'task 6 (deleted)',
    'task 99 (unknown)',
  ]);
  evolve(team.state, { type: 'task:failed', at: 0, by: 'lead', taskId: free } as TeamEvent);
  expect(describeTask(team.state, free)).toBe('task 1 (failed: "")');
});

test('a member shows its open tasks by number and whether it may only read', () => {
  const team = teamOf();
  team.do('member.join', { name: 'ann', planApprovalRequired: true });
  for (let i = 0; i < 11; i++) team.task({ assigneeId: 'ann' });
  team.as('ann', 'task.claim', { taskId: '10' });
  team.do('task.complete', { taskId: '3' });
  team.do('task.delete', { taskId: '4' });
  const view = viewMember(team.state, requireMember(team.state, 'ann'));
  expect(view.assignedTasks).toEqual(['1', '2', '5', '6', '7', '8', '9', '10', '11']);
  expect(view).toMatchObject({ agentId: 'ann@alpha', planModeRequired: true });
  expect(view).not.toHaveProperty('planApproved');
});

describe('what does not exist', () => {
  test.each([
    ['the team', requireTeam],
    ['the view of the team', viewTeam],
    ['a member', (state: Stage['state']) => requireMember(state, 'ann')],
    ['a task', (state: Stage['state']) => requireTask(state, '1')],
  ])('is an error and never an empty answer: %s of no team', (_what, ask) => {
    expect(() => ask(createState('x\u001b[2J'))).toThrow(
      new TeamError(
        'not_found',
        String.raw`There is no team "x\u001b[2J": list the teams to see which exist, or create it`,
      ),
    );
  });

  test('is named, with a list of those that exist', () => {
    const { state } = teamOf('ann');
    expect(() => requireMember(state, 'x\u001b')).toThrow(
      new TeamError('not_found', String.raw`Team alpha has no member "x\u001b"; it has lead, ann`),
    );
    const closed = teamOf('ann');
    closed.do('team.close', { force: true });
    expect(() => requireMember(closed.state, 'eve')).toThrow(
      'Team alpha has no member "eve"; it has ann, lead (stopped)',
    );
    expect(() => requireMember(closed.state, 'anne')).toThrow('it has ann, lead (stopped); did you mean ann?');
    const empty = new Stage();
    empty.as('@user', 'team.create', { name: 'alpha', leadAgentType: 'none' });
    expect(() => requireMember(empty.state, 'eve')).toThrow('Team alpha has no member "eve"; it has no members');
    expect(() => requireMember(state, '@user')).toThrow(
      'Only a member of team alpha (lead, ann) can do that, and you are calling as @user',
    );
    expect(() => requireMember(closed.state, '@user')).toThrow('Only a member of team alpha (no live members)');
    expect(() => requireTask(state, 'x\u001b')).toThrow(String.raw`Task "x\u001b" of team alpha does not exist`);
  });

  test('includes a deleted task, unless the caller asks for those', () => {
    const team = teamOf();
    const taskId = team.task();
    team.do('task.delete', { taskId });
    expect(() => requireTask(team.state, taskId)).toThrow('Task "1" of team alpha was deleted');
    expect(requireTask(team.state, taskId, { deleted: true }).id).toBe(taskId);
  });

  test('includes a message of another inbox, and a request of another kind', () => {
    const team = teamOf('ann', 'bob');
    team.do('message.send', { messageId: 'm1', toId: 'bob', content: 'hello' });
    expect(team.refuse('ann', 'message.read', { memberId: 'ann', messageIds: ['m1'] })).toMatchObject({
      code: 'not_found',
      message: 'The inbox of ann has no message "m1": list it to see its messages',
    });
    const [requested] = team.do('shutdown.request', { memberId: 'ann' });
    const { requestId } = requested as { requestId: string };
    expect(team.refuse('@user', 'plan.approve', { requestId })).toMatchObject({
      code: 'not_found',
      message: `There is no plan request "${requestId}"`,
    });
    expect(team.refuse('ann', 'shutdown.approve', { requestId: 'x\u001b' })).toMatchObject({
      code: 'not_found',
      message: String.raw`There is no shutdown request "x\u001b"`,
    });
  });

  test('includes a team with an invalid name', () => {
    const stage = new Stage('x\u001b[2J');
    expect(stage.refuse('@user', 'team.create', { name: 'alpha' })).toMatchObject({
      code: 'invalid',
      message: String.raw`Team "x\u001b[2J" cannot be created under the name alpha: use one name for both`,
    });
  });
});

test('a failure is shown in one line and without terminal colours', () => {
  const team = teamOf('ann');
  const taskId = team.task();
  team.do('task.fail', { taskId, reason: '\u001b[31mFAIL\u001b[39m a.test.ts\n  no disk' });
  expect(describeTask(team.state, taskId)).toBe('task 1 (failed: "FAIL a.test.ts no disk")');
});

test('a task that somebody works on names no dependency, also if one was opened again', () => {
  const team = teamOf('ann', 'bob');
  const first = team.task();
  const second = team.task({ dependencies: [first] });
  team.as('ann', 'task.claim', { taskId: first });
  team.as('ann', 'task.complete', { taskId: first });
  team.as('bob', 'task.claim', { taskId: second });
  team.do('task.reopen', { taskId: first });
  expect(team.view(second)).toMatchObject({ status: 'in_progress', blockedBy: [] });
  expect(team.view(second)).not.toHaveProperty('blockedReason');
  expect(team.view(second)).not.toHaveProperty('filesHeldBy');
});

test('a member is the same since it first joined', () => {
  const team = teamOf('ann');
  const ann = () => requireMember(team.state, 'ann');
  const first = team.now;
  expect(sameSince(ann())).toBe(first);
  expect(sameSince({ ...ann(), firstJoinedAt: undefined })).toBe(first);
  expect(sameSince({ ...ann(), firstJoinedAt: 7 })).toBe(7);
});

test('a look-up of a member in a team without members says so', () => {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', leadAgentType: 'none' });
  expect(() => requireMember(team.state, 'eve')).toThrow(/no members/);
  team.join('ann');
  team.do('member.leave', { memberId: 'ann' });
  expect(() => requireMember(team.state, 'eve')).toThrow(/: ann \(stopped\)$|ann \(stopped\)/);
});
