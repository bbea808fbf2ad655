import { describe, expect, test } from 'vitest';
import type { Command } from '../../../src/core/command.ts';
import { decide } from '../../../src/core/decide.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import { evolve } from '../../../src/core/evolve.ts';
import { CHOSEN_TASK_ID } from '../../../src/core/limits.ts';
import { openSnapshot, takeSnapshot } from '../../../src/core/snapshot.ts';
import { commandOf, teamOf, types } from '../stage.ts';

describe('a new task', () => {
  test('has its own number, the given values and defaults for the rest', () => {
    const team = teamOf('ann');
    expect(types(team.as('ann', 'task.create', { title: 'first' }))).toEqual(['task:created']);
    expect(team.view('1')).toMatchObject({
      id: '1',
      teamId: 'alpha',
      title: 'first',
      description: '',
      status: 'pending',
      priority: 'medium',
      reserved: false,
      dependencies: [],
      blockedBy: [],
      blocks: [],
      onDependencyFailure: 'block',
      epoch: 0,
      revision: 1,
      createdBy: 'ann',
      createdAt: expect.any(Date) as Date,
    });
    const said = {
      title: 'second',
      description: 'd',
      activeForm: 'Doing',
      priority: 'critical' as const,
      assigneeId: 'ann',
      dependencies: ['1'],
      onDependencyFailure: 'proceed' as const,
      metadata: { a: 1 },
    };
    team.as('@user', 'task.create', said);
    expect(team.view('2')).toMatchObject({ ...said, status: 'blocked', reserved: true, createdBy: '@user' });
  });

  test('has a chosen number only if that leaves room for later ones', () => {
    const team = teamOf('ann');
    const create = (taskId: string): TeamEvent[] => {
      const command = commandOf('task.create', { title: 't' }, { by: '@system', at: 0 });
      return decide(team.state, { ...command, taskId } as Command);
    };
    for (const taskId of ['999999999999999', String(CHOSEN_TASK_ID + 1), '1e5', '0x10', '']) {
      expect(() => create(taskId)).toThrow(/(cannot be chosen for a task|exists or did)/);
    }
    for (const event of create(String(CHOSEN_TASK_ID))) evolve(team.state, event);
    const next = team.task();
    expect(next).toBe(String(CHOSEN_TASK_ID + 1));
    team.as('ann', 'task.claim', { taskId: next });
  });

  test('is refused with an unknown priority, which would break the order of the others', () => {
    const team = teamOf('ann');
    team.task();
    const created = commandOf('task.create', { title: 't' }, { by: 'lead', at: 0 });
    const updated = commandOf('task.update', { taskId: '1' }, { by: 'lead', at: 0 });
    for (const priority of [undefined, null, 'urgent', 'constructor', 3, ['high']]) {
      expect(() => decide(team.state, { ...created, priority } as Command)).toThrow(
        /: give low, medium, high, critical$/,
      );
      if (priority === undefined) continue;
      expect(() => decide(team.state, { ...updated, priority } as Command)).toThrow(/cannot be ordered/);
    }
    expect(decide(team.state, { ...updated, priority: undefined } as Command)).toHaveLength(1);
    team.as('ann', 'task.claim', {});
    expect(team.view('1').status).toBe('in_progress');
  });

  test('that is unjudged cannot be claimed until its hooks accept it, also after its dependencies and in a snapshot', () => {
    const team = teamOf('ann');
    const first = team.task();
    const play = (command: Command): string[] =>
      decide(team.state, command).map((event) => evolve(team.state, event) && event.type);
    const by = { by: '@system', at: 0 };
    play({ ...commandOf('task.create', { title: 't', dependencies: [first] }, by), unjudged: true } as Command);
    expect(team.view('2')).toMatchObject({
      status: 'blocked',
      blockedReason: 'waits for the hooks that judge new tasks, task 1 (pending)',
    });
    expect(types(team.do('task.complete', { taskId: first }))).toEqual(['task:completed']);
    expect(team.refuse('ann', 'task.claim', { taskId: '2' })).toMatchObject({ code: 'blocked' });
    expect(team.as('ann', 'task.claim', {})).toEqual([]);
    const opened = openSnapshot('alpha', takeSnapshot(team.state));
    expect(opened?.tasks.get('2')).toEqual(team.state.tasks.get('2'));
    const pass = { ...commandOf('task.update', { taskId: '2' }, by), unjudged: false } as Command;
    expect(() => decide(team.state, { ...pass, by: '@user' })).toThrow('@user may not let task 2 pass');
    expect(play(pass)).toEqual(['task:updated', 'task:unblocked']);
    expect(decide(team.state, pass)).toEqual([]);
    expect(types(team.as('ann', 'task.claim', {}))).toEqual(['task:claimed']);
    // A second verdict comes too late.
    const drop = { ...commandOf('task.delete', { taskId: '2' }, by), unjudged: true } as Command;
    expect(decide(team.state, drop)).toEqual([]);
  });

  test('depends once on a task that is named twice', () => {
    const team = teamOf();
    team.task();
    const taskId = team.task({ dependencies: ['1', '1'] });
    expect(team.view(taskId).dependencies).toEqual(['1']);
  });

  test('is refused with an unknown dependency or assignee', () => {
    const team = teamOf();
    team.task();
    team.do('task.delete', { taskId: '1' });
    expect(team.refuse('lead', 'task.create', { title: 't', dependencies: ['9'] })).toMatchObject({
      code: 'not_found',
      message: 'Task "9" of team alpha does not exist',
    });
    expect(team.refuse('lead', 'task.create', { title: 't', dependencies: ['1'] })).toMatchObject({
      code: 'not_found',
      message: 'Task "1" of team alpha was deleted',
    });
    expect(team.refuse('lead', 'task.create', { title: 't', assigneeId: 'eve' })).toMatchObject({
      code: 'not_found',
      message: 'Team alpha has no member "eve"; it has lead',
    });
    expect(team.refuse('eve', 'task.create', { title: 't' })).toMatchObject({ code: 'not_found' });
    expect(team.task()).toBe('2');
  });
});

describe('an update of a task', () => {
  test('changes only what it mentions and the revision', () => {
    const team = teamOf('ann');
    const taskId = team.task({ metadata: { a: 1 } });
    const before = team.view(taskId);
    const changes = {
      title: 'new',
      description: 'd',
      activeForm: 'Doing',
      priority: 'low' as const,
      metadata: { b: 2 },
    };
    expect(types(team.as('ann', 'task.update', { taskId, ...changes }))).toEqual(['task:updated']);
    expect(team.view(taskId)).toEqual({
      ...before,
      ...changes,
      metadata: { a: 1, b: 2 },
      revision: 2,
      updatedAt: expect.any(Date) as Date,
    });
    expect(team.view(taskId).updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime());
  });

  test.each([
    ['block', 'proceed', ['task:updated', 'task:unblocked'], 'pending'],
    ['block', 'block', ['task:updated'], 'blocked'],
    ['block', 'fail', ['task:updated', 'task:failed'], 'failed'],
    ['proceed', 'block', ['task:updated'], 'blocked'],
    ['proceed', 'fail', ['task:updated', 'task:failed'], 'failed'],
    ['proceed', 'proceed', ['task:updated'], 'pending'],
  ] as const)('of its policy from %s to %s after a dependency failed: %j, then %s', (from, to, events, status) => {
    const team = teamOf('ann');
    const dependency = team.task();
    const done = team.task();
    const taskId = team.task({ dependencies: [dependency, done], onDependencyFailure: from });
    team.do('task.complete', { taskId: done });
    team.do('task.fail', { taskId: dependency, reason: 'no' });
    expect(types(team.do('task.update', { taskId, onDependencyFailure: to }))).toEqual(events);
    expect(team.view(taskId).status).toBe(status);
    expect(team.claimNext('ann')).toBe(status === 'pending' ? taskId : undefined);
  });

  test('of its policy unblocks nothing while another dependency is open', () => {
    const team = teamOf();
    const dependency = team.task();
    const open = team.task();
    const taskId = team.task({ dependencies: [dependency, open] });
    team.do('task.fail', { taskId: dependency, reason: 'no' });
    expect(types(team.do('task.update', { taskId, onDependencyFailure: 'proceed' }))).toEqual(['task:updated']);
    expect(team.view(taskId)).toMatchObject({ status: 'blocked', blockedBy: [open] });
  });

  test('withholds it, only by Troupe itself, and says the same once', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    const hold = (withheld: string | null, by = '@system') => {
      const command = { ...commandOf('task.update', { taskId }, { by, at: team.now }), withheld } as Command;
      const events = decide(team.state, command);
      for (const event of events) evolve(team.state, event);
      return events;
    };
    expect(() => hold('x', 'lead')).toThrow('lead may not withhold task 1: only Troupe itself may');
    expect(hold(null)).toEqual([]);
    expect(types(hold('another owner'))).toEqual(['task:updated']);
    expect(hold('another owner')).toEqual([]);
    expect(team.claimNext('ann')).toBeUndefined();
    expect(types(hold(null))).toEqual(['task:updated', 'task:unblocked']);
    expect(team.claimNext('ann')).toBe(taskId);
  });

  test('is refused to unknown callers, and for unknown tasks', () => {
    const team = teamOf();
    const taskId = team.task();
    expect(team.refuse('eve', 'task.update', { taskId, title: 'x' })).toMatchObject({ code: 'not_found' });
    expect(team.refuse('lead', 'task.update', { taskId: '9', title: 'x' })).toMatchObject({ code: 'not_found' });
  });
});

describe('an assignment', () => {
  test('reserves a task for a member, for another, and for nobody', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    for (const assigneeId of ['ann', 'bob', null]) {
      expect(team.do('task.assign', { taskId, assigneeId })).toMatchObject([{ type: 'task:assigned', epoch: 0 }]);
      expect(team.view(taskId)).toMatchObject({ status: 'pending', reserved: assigneeId !== null });
      expect(team.view(taskId).assigneeId).toBe(assigneeId ?? undefined);
      expect(team.do('task.assign', { taskId, assigneeId })).toEqual([]);
    }
  });

  test('takes a task from its holder under a new epoch', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.do('task.assign', { taskId, assigneeId: 'ann' })).toEqual([]);
    team.do('task.assign', { taskId, assigneeId: 'bob' });
    expect(team.view(taskId)).toMatchObject({ status: 'pending', assigneeId: 'bob', epoch: 2 });
    expect(team.view(taskId).startedAt).toBeUndefined();
    expect(team.refuse('ann', 'task.complete', { taskId, epoch: 1 })).toMatchObject({ code: 'stale_epoch' });
    team.as('bob', 'task.claim', { taskId });
    team.do('task.assign', { taskId, assigneeId: null });
    expect(team.view(taskId)).toMatchObject({ status: 'pending', epoch: 4, reserved: false });
    expect(team.claimNext('ann')).toBe(taskId);
  });

  test('is made by managers, its creator and its assignee; a free task also by a member for itself', () => {
    const team = teamOf('ann', 'bob');
    const mine = team.task({}, 'ann');
    team.as('ann', 'task.assign', { taskId: mine, assigneeId: 'bob' });
    team.as('bob', 'task.assign', { taskId: mine, assigneeId: 'lead' });
    const free = team.task();
    expect(team.refuse('ann', 'task.assign', { taskId: free, assigneeId: 'bob' })).toMatchObject({
      code: 'not_allowed',
      message: `ann may not assign task ${free}: ask lead or a person`,
    });
    team.as('ann', 'task.assign', { taskId: free, assigneeId: 'ann' });
    for (const assigneeId of ['bob', null]) {
      expect(team.refuse('bob', 'task.assign', { taskId: free, assigneeId })).toMatchObject({ code: 'not_allowed' });
    }
    const held = team.task();
    team.as('ann', 'task.claim', { taskId: held });
    expect(team.refuse('bob', 'task.assign', { taskId: held, assigneeId: 'bob' })).toMatchObject({
      code: 'not_allowed',
    });
    team.as('ann', 'task.assign', { taskId: held, assigneeId: 'bob' });
  });

  test('is refused to its creator and its assignee once they have left', () => {
    const team = teamOf('ann', 'bob');
    const made = team.task({}, 'ann');
    const kept = team.task({ assigneeId: 'ann' });
    team.do('member.leave', { memberId: 'ann', returning: true });
    for (const taskId of [made, kept]) {
      for (const assigneeId of ['bob', null]) {
        expect(team.refuse('ann', 'task.assign', { taskId, assigneeId }).code).toBe('member_stopped');
      }
      expect(team.refuse('ann', 'task.delete', { taskId }).code).toMatch(/member_stopped|not_allowed/);
    }
  });

  test('is refused for an ended task, and for an unknown assignee', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    expect(team.refuse('lead', 'task.assign', { taskId, assigneeId: 'eve' })).toMatchObject({ code: 'not_found' });
    team.do('task.complete', { taskId });
    expect(team.refuse('lead', 'task.assign', { taskId, assigneeId: 'ann' })).toMatchObject({
      code: 'conflict',
      message: `Cannot assign task ${taskId} (completed): reopen it first`,
    });
  });
});

describe('a lead in delegate mode', () => {
  const delegating = {
    code: 'not_allowed',
    message: 'In delegate mode the lead does no work itself: give the task to a teammate, not to lead',
  };

  test('takes no tasks, and cannot be assigned any', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.do('team.update', { delegateMode: true });
    expect(team.refuse('lead', 'task.claim', {})).toMatchObject(delegating);
    expect(team.refuse('lead', 'task.claim', { taskId })).toMatchObject(delegating);
    expect(team.refuse('lead', 'task.complete', { taskId })).toMatchObject(delegating);
    for (const by of ['lead', 'ann', '@user']) {
      expect(team.refuse(by, 'task.assign', { taskId, assigneeId: 'lead' })).toMatchObject(delegating);
      expect(team.refuse(by, 'task.create', { title: 'for the lead', assigneeId: 'lead' })).toMatchObject(delegating);
    }
    expect(team.refuse('@user', 'task.claim', { taskId, memberId: 'lead' })).toMatchObject(delegating);
    team.as('lead', 'task.assign', { taskId, assigneeId: 'ann' });
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('lead', 'task.complete', { taskId })).toMatchObject(delegating);
    team.as('ann', 'task.complete', { taskId });
  });

  test('does not complete what was only reserved for it before', () => {
    const team = teamOf('ann');
    const taskId = team.task({ assigneeId: 'lead' });
    team.do('team.update', { delegateMode: true });
    expect(team.refuse('lead', 'task.complete', { taskId })).toMatchObject(delegating);
  });

  test('may finish or release tasks that it took before', () => {
    const team = teamOf('ann');
    const [done, back] = [team.task(), team.task()];
    for (const taskId of [done, back]) team.as('lead', 'task.claim', { taskId });
    team.do('team.update', { delegateMode: true });
    team.as('lead', 'task.complete', { taskId: done });
    team.as('lead', 'task.release', { taskId: back });
    expect(team.refuse('lead', 'task.claim', { taskId: back })).toMatchObject(delegating);
  });
});

describe('a deleted task', () => {
  test('is hidden unless it is asked for, and its holder can no longer write', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.do('task.delete', { taskId })).toMatchObject([{ type: 'task:deleted', epoch: 2 }]);
    expect(team.view(taskId)).toMatchObject({ status: 'deleted', epoch: 2 });
    for (const type of ['task.claim', 'task.complete', 'task.release', 'task.update', 'task.delete'] as const) {
      expect(team.refuse('ann', type, { taskId })).toMatchObject({
        code: 'not_found',
        message: `Task "${taskId}" of team alpha was deleted`,
      });
    }
    expect(team.state.index.counts).toMatchObject({ deleted: 1, in_progress: 0 });
  });

  test('is deleted by managers and its creator', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task({}, 'bob');
    expect(team.refuse('ann', 'task.delete', { taskId })).toMatchObject({
      code: 'not_allowed',
      message: `ann may not delete task ${taskId}: ask lead or a person`,
    });
    team.as('bob', 'task.delete', { taskId });
  });

  test('no longer blocks its dependents', () => {
    const team = teamOf('ann');
    const [first, other] = [team.task(), team.task()] as const;
    const waiting = team.task({ dependencies: [first] });
    const waitingForBoth = team.task({ dependencies: [first, other] });
    const begun = team.task();
    expect(team.do('task.delete', { taskId: first })).toMatchObject([
      { type: 'task:deleted' },
      { type: 'task:unblocked', taskId: waiting },
    ]);
    expect(team.view(waiting)).toMatchObject({ status: 'pending', dependencies: [], revision: 2 });
    expect(team.view(waitingForBoth)).toMatchObject({ status: 'blocked', dependencies: [other] });
    expect(team.view(begun).revision).toBe(1);
  });

  test('in the middle of a chain unblocks the end', () => {
    const team = teamOf('ann');
    const [a, b, c] = [team.task(), team.task({ dependencies: ['1'] }), team.task({ dependencies: ['2'] })] as const;
    expect(types(team.do('task.delete', { taskId: b }))).toEqual(['task:deleted', 'task:unblocked']);
    expect([team.claimNext('ann'), team.claimNext('ann')]).toEqual([a, c]);
  });

  test('that had failed unblocks its dependents, and only these', () => {
    const team = teamOf();
    const failed = team.task();
    const blocked = team.task({ dependencies: [failed] });
    const proceeding = team.task({ dependencies: [failed], onDependencyFailure: 'proceed' });
    team.do('task.fail', { taskId: failed, reason: 'no' });
    expect(team.do('task.delete', { taskId: failed }).slice(1)).toMatchObject([
      { type: 'task:unblocked', taskId: blocked },
    ]);
    expect(team.view(proceeding).status).toBe('pending');
  });
});

describe('a write that names the epoch or revision its caller saw', () => {
  test.each([
    'task.update',
    'task.assign',
    'task.release',
    'task.complete',
    'task.reject',
    'task.fail',
    'task.reopen',
    'task.delete',
    'task.addDependencies',
    'task.removeDependencies',
  ] as const)('is refused when that has moved on: %s', (type) => {
    const team = teamOf('ann', 'bob');
    const other = team.task();
    const taskId = team.task({ dependencies: [other] });
    if (type === 'task.reopen') team.do('task.complete', { taskId });
    if (type === 'task.release' || type === 'task.reject') {
      team.do('task.complete', { taskId: other });
      team.as('ann', 'task.claim', { taskId });
    }
    const { epoch, revision } = team.view(taskId);
    const extra = {
      'task.assign': { assigneeId: 'bob' },
      'task.reject': { feedback: 'x' },
      'task.fail': { reason: 'x' },
      'task.addDependencies': { dependencies: [team.task()] },
      'task.removeDependencies': { dependencies: [other] },
    };
    const input = { taskId, ...(extra as Record<string, object>)[type] } as {
      taskId: string;
      assigneeId: string;
      reason: string;
      feedback: string;
      dependencies: string[];
    };
    const by = type === 'task.reject' ? '@user' : 'lead';
    const before = team.view(taskId);
    expect(team.refuse(by, type, { ...input, epoch: epoch + 1 })).toMatchObject({
      code: 'stale_epoch',
      message: `Task ${taskId} is at epoch ${epoch}, not ${epoch + 1}: it changed hands; claim it again before writing`,
    });
    expect(team.refuse(by, type, { ...input, revision: revision - 1 })).toMatchObject({
      code: 'stale_revision',
      message: `Task ${taskId} is at revision ${revision}, not ${revision - 1}: read it again, then decide again`,
    });
    expect(team.view(taskId)).toEqual(before);
    expect(team.as(by, type, { ...input, epoch, revision }).length).toBeGreaterThan(0);
  });
});

describe('a member whose plan is not approved', () => {
  test('cannot complete tasks until it is', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', planApprovalRequired: true });
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('ann', 'task.complete', { taskId })).toMatchObject({
      code: 'not_allowed',
      message: 'ann may only read until its plan is approved: submit a plan first',
    });
    const [submitted] = team.as('ann', 'plan.submit', { content: 'p' });
    team.do('plan.approve', { requestId: (submitted as { requestId: string }).requestId });
    team.as('ann', 'task.complete', { taskId });
  });
});

test.each([
  ['native', { id: '1' }],
  ['key', 'review'],
])('a member cannot write into the metadata of a task what Troupe reads there: %s', (key, value) => {
  const team = teamOf('ann');
  const taskId = team.task({ metadata: { mine: 1 } }, '@user');
  for (const by of ['ann', 'lead']) {
    const says = {
      code: 'not_allowed',
      message: `${by} may not write ${key} into the metadata of a task: only a person may`,
    };
    expect(team.refuse(by, 'task.create', { title: 'x', metadata: { [key]: value } })).toMatchObject(says);
    expect(team.refuse(by, 'task.update', { taskId, metadata: { [key]: value } })).toMatchObject(says);
  }
  team.as('@user', 'task.update', { taskId, metadata: { [key]: value } });
  expect(team.refuse('ann', 'task.update', { taskId, metadata: { [key]: null } }).code).toBe('not_allowed');
  // What stays as it is may be said again.
  team.as('ann', 'task.update', { taskId, metadata: { mine: 2, [key]: value } });
  expect(team.view(taskId).metadata).toEqual({ mine: 2, [key]: value });
});

test('what a task may change, whoever holds it: files, budget, lease and feedback', () => {
  const team = teamOf('ann');
  team.task({ files: ['a'], budget: { turns: 5 } });
  const record = () => team.state.tasks.get('1');
  const task = record();
  if (task) team.state.tasks.set('1', { ...task, granted: { turns: 2 } });
  team.do('task.update', { taskId: '1', title: 'new' });
  expect(record()).toMatchObject({ files: ['a'], budget: { turns: 5 }, granted: { turns: 2 } });
  team.do('task.update', { taskId: '1', files: [] });
  expect(record()).toMatchObject({ files: undefined, budget: { turns: 5 }, granted: { turns: 2 } });
  team.as('@user', 'task.update', { taskId: '1', budget: {} });
  expect(record()).toMatchObject({ budget: undefined, granted: undefined });
  team.as('ann', 'task.claim', { taskId: '1' });
  expect(record()?.leaseUntil).toBeUndefined();
  team.as('@system', 'task.reject', { taskId: '1', feedback: 'again' });
  team.as('ann', 'task.fail', { taskId: '1', reason: 'no' });
  team.do('task.reopen', { taskId: '1' });
  expect(record()).toMatchObject({ feedback: 'again', rejections: 0 });
  team.as('ann', 'task.claim', { taskId: '1' });
  team.pass(5_000);
  team.as('ann', 'task.release', { taskId: '1' });
  expect(record()?.workedMs).toBe(8_000);
  team.as('ann', 'task.claim', { taskId: '1' });
  team.as('ann', 'task.complete', { taskId: '1' });
  expect(team.state.completions).toBe(1);
  team.do('task.reopen', { taskId: '1' });
  expect(record()).toMatchObject({ feedback: undefined, workedMs: 9_000, assigneeId: undefined });
  // Not worked on since: no time is added.
  team.do('task.assign', { taskId: '1', assigneeId: 'ann' });
  expect(record()?.workedMs).toBe(9_000);
});
