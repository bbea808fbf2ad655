import { describe, expect, test } from 'vitest';
import { whyBlocked } from '../../src/core/blocked.ts';
import type { Command } from '../../src/core/command.ts';
import { decide } from '../../src/core/decide.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { LEAD_GRACE_MS } from '../../src/core/limits.ts';
import { explainBlocked, explainNothing, isHalt, obstacles, refuseClaim } from '../../src/core/obstacles.ts';
import type { Obstacle } from '../../src/core/obstacles.ts';
import { createState } from '../../src/core/state.ts';
import { putTask } from '../../src/core/tables.ts';
import { requireTask } from '../../src/core/view.ts';
import { commandOf, teamOf } from './stage.ts';
import type { Stage } from './stage.ts';

/** The obstacles between ann and task 1 in a team of ann and bob. */
function found(prepare: (team: Stage) => void): Obstacle[] {
  const team = teamOf('ann', 'bob');
  team.task();
  prepare(team);
  const task = team.state.tasks.get('1');
  if (!task) throw new Error('There is no task 1');
  return obstacles(team.state, { memberId: 'ann', at: 0 }, task);
}

/** Only the bridge sends this; no face can. */
function withhold(team: Stage, taskId: string, withheld: string | null, by = '@system'): TeamEvent[] {
  const command = { ...commandOf('task.update', { taskId }, { by, at: 0 }), withheld } as Command;
  const events = decide(team.state, command);
  for (const event of events) evolve(team.state, event);
  return events;
}

const types = (events: readonly TeamEvent[]): string[] => events.map(({ type }) => type);

describe('the obstacles between a member and a task', () => {
  test.each<[string, (team: Stage) => void, Obstacle[]]>([
    ['nothing', () => {}, []],
    ['a holder', (team) => team.as('bob', 'task.claim', { taskId: '1' }), [{ kind: 'held', by: 'bob' }]],
    ['its end', (team) => team.do('task.complete', { taskId: '1' }), [{ kind: 'ended' }]],
    [
      'a reservation',
      (team) => team.do('task.assign', { taskId: '1', assigneeId: 'bob' }),
      [{ kind: 'reserved', for: 'bob' }],
    ],
    [
      'what it waits for',
      (team) => team.do('task.addDependencies', { taskId: '1', dependencies: [team.task(), team.task()] }),
      [
        { kind: 'dependency', taskId: '2' },
        { kind: 'dependency', taskId: '3' },
      ],
    ],
    [
      'another program',
      (team) => withhold(team, '1', 'its file is broken'),
      [{ kind: 'withheld', why: 'its file is broken' }],
    ],
    [
      'hooks that judge it first',
      (team) => {
        const record = team.state.tasks.get('1');
        if (record) team.state.tasks.set('1', { ...record, unjudged: true });
      },
      [{ kind: 'unjudged' }],
    ],
    ['the end of the team', (team) => team.do('team.update', { status: 'shutting-down' }), [{ kind: 'shutting-down' }]],
  ])('%s', (_what, prepare, expected) => {
    expect(found(prepare)).toEqual(expected);
  });
});

describe('a withheld task', () => {
  test('is blocked with the reason, ready for nobody, and free again afterwards', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    withhold(team, taskId, 'its file is broken');
    expect(team.view(taskId)).toMatchObject({
      status: 'blocked',
      blockedBy: [],
      blockedReason: 'is withheld: its file is broken',
    });
    expect(team.as('ann', 'task.claim', {})).toEqual([]);
    expect(team.refuse('ann', 'task.claim', { taskId })).toMatchObject({
      code: 'blocked',
      message: `Task ${taskId} is withheld: its file is broken`,
    });
    withhold(team, taskId, null);
    expect(team.as('ann', 'task.claim', {})).toMatchObject([{ type: 'task:claimed', taskId }]);
  });

  test('is announced as ready when nothing blocks it any more, not when its last dependency ends', () => {
    const team = teamOf('ann');
    const [first, second] = [team.task(), team.task()];
    const waiting = [team.task({ dependencies: [first] }), team.task({ dependencies: [second] })];
    for (const taskId of waiting) withhold(team, taskId, 'its file is broken');
    expect(types(team.do('task.complete', { taskId: first }))).toEqual(['task:completed']);
    expect(types(team.do('task.fail', { taskId: second, reason: 'no' }))).toEqual(['task:failed']);
    expect(types(withhold(team, '3', null))).toEqual(['task:updated', 'task:unblocked']);
    expect(types(team.do('task.update', { taskId: '4', onDependencyFailure: 'proceed' }))).toEqual(['task:updated']);
    expect(types(withhold(team, '4', null))).toEqual(['task:updated', 'task:unblocked']);
  });

  test('is not announced while it has an open dependency', () => {
    const team = teamOf('ann');
    const first = team.task();
    const taskId = team.task({ dependencies: [first] });
    withhold(team, taskId, 'its file is broken');
    expect(types(withhold(team, taskId, null))).toEqual(['task:updated']);
    withhold(team, taskId, 'its file is broken');
    expect(types(team.do('task.removeDependencies', { taskId, dependencies: [first] }))).toEqual([
      'task:dependencies-removed',
    ]);
    expect(types(withhold(team, taskId, null))).toEqual(['task:updated', 'task:unblocked']);
  });

  test('is withheld only by Troupe itself, and only until it is assigned to a member', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    expect(() => withhold(team, taskId, 'no', 'lead')).toThrow('lead may not withhold task 1');
    withhold(team, taskId, 'its file is broken');
    const events = team.do('task.assign', { taskId, assigneeId: 'ann' });
    expect(types(events)).toEqual(['task:assigned', 'task:unblocked']);
    expect(team.as('ann', 'task.claim', { taskId })).toMatchObject([{ type: 'task:claimed', taskId }]);
  });
});

describe('why a task is blocked, in few words', () => {
  const why = (team: Stage, taskId = '1'): string => whyBlocked(team.view(taskId), (ids) => `needs ${ids.join(' ')}`);

  test('is empty for a task that is not blocked', () => {
    const team = teamOf('ann');
    team.task();
    expect(why(team)).toBe('');
    team.as('ann', 'task.claim', { taskId: '1' });
    expect(why(team)).toBe('');
  });

  test('names every reason, and the tasks in the words of the caller', () => {
    const team = teamOf('ann');
    team.task();
    const taskId = team.task({ dependencies: ['1'] });
    expect(why(team, taskId)).toBe('needs 1');
    withhold(team, taskId, 'its file is broken');
    expect(why(team, taskId)).toBe('is withheld: its file is broken, needs 1');
    expect(whyBlocked(team.view(taskId), () => '')).toBe('is withheld: its file is broken');
    team.do('task.complete', { taskId: '1' });
    expect(why(team, taskId)).toBe('is withheld: its file is broken');
  });

  test('is the text of the daemon if that knows reasons of its own', () => {
    const blocked = { status: 'blocked' as const, blockedBy: [] };
    expect(whyBlocked({ ...blocked, blockedReason: 'is frozen' }, () => '')).toBe('is frozen');
    expect(whyBlocked(blocked, () => '')).toBe('is blocked');
  });
});

test('why there is nothing to claim is said by the numbers of open tasks', () => {
  expect(explainNothing({ pending: 2, blocked: 1, in_progress: 3, completed: 9 })).toBe(
    '2 reserved for others, 1 blocked, 3 in progress',
  );
  expect(explainNothing({ blocked: 1 })).toBe('1 blocked');
  expect(explainNothing({ completed: 9 })).toBeUndefined();
});

test('some obstacles stop everybody; without a team there is none', () => {
  const kinds = ['shutting-down', 'unled', 'leaving', 'delegating'] as const;
  expect(kinds.filter((kind) => isHalt({ kind, leadId: 'lead' }))).toEqual(['shutting-down', 'unled']);
  expect(obstacles(createState('alpha'), { memberId: 'ann', at: 0 })).toEqual([]);
});

test('a task that waits for files names all tasks that change them, by number', () => {
  const team = teamOf('ann', 'bob');
  for (let i = 1; i <= 10; i++) team.task({ files: [`${i}/**`] });
  for (const taskId of ['10', '9']) team.as('ann', 'task.claim', { taskId });
  const waiting = team.task({ files: ['9/a', '10/b'] });
  expect(team.view(waiting)).toMatchObject({ status: 'blocked', filesHeldBy: ['9', '10'] });
  expect(whyBlocked(team.view(waiting), () => '')).toBe('changes the same files as #9, #10');
});

test('a task says its own reason first; words of a newer daemon only if there is no other', () => {
  const view = { status: 'blocked' as const, blockedBy: [], blockedReason: 'of a newer daemon' };
  const why = (more: object) => whyBlocked({ ...view, ...more }, (ids) => `waits for ${ids.join(', ')}`);
  expect(why({})).toBe('of a newer daemon');
  expect(why({ blockedReason: undefined })).toBe('is blocked');
  expect(why({ withheld: 'broken' })).toBe('is withheld: broken');
  expect(why({ blockedBy: ['2'] })).toBe('waits for 2');
  expect(why({ filesHeldBy: ['3', '4'] })).toBe('changes the same files as #3, #4');
  expect(why({ unjudged: true, blockedBy: ['2'] })).toBe('waits for the hooks that judge new tasks, waits for 2');
  expect(why({ status: 'pending' })).toBe('');
});

test('a task that somebody works on waits for nothing, whatever it depends on', () => {
  const team = teamOf('ann');
  const first = team.task();
  const second = team.task({ dependencies: [first] });
  const explain = () => explainBlocked(team.state, requireTask(team.state, second));
  expect(explain()).toBe('waits for task 1 (pending)');
  team.as('@user', 'task.complete', { taskId: first });
  team.as('ann', 'task.claim', { taskId: second });
  team.as('@user', 'task.reopen', { taskId: first });
  expect(explain()).toBeUndefined();
  // A task of another program may name one twice.
  const record = requireTask(team.state, second);
  putTask(team.state, second, { ...record, dependencies: [first, first] });
  putTask(team.state, second, { ...record, dependencies: [] });
  expect(team.state.index.dependents.has(first)).toBe(false);
});

test('every reason why a member cannot claim a task has its own words', () => {
  const team = teamOf('ann');
  team.task({ title: 'First' });
  const task = requireTask(team.state, '1');
  const refuse = (obstacle: Obstacle) => {
    const { code, message } = refuseClaim(team.state, 'ann', obstacle, task);
    return `${code}: ${message}`;
  };
  expect(
    [
      { kind: 'ended' },
      { kind: 'held', by: 'ann' },
      { kind: 'held', by: 'bob' },
      { kind: 'reserved', for: 'bob' },
      { kind: 'delegating' },
      { kind: 'leaving' },
      { kind: 'shutting-down' },
      { kind: 'unled', leadId: 'lead' },
    ].map((obstacle) => refuse(obstacle as Obstacle)),
  ).toEqual([
    'claim_conflict: Cannot claim task 1 (pending): take another one',
    'claim_conflict: ann already holds task 1: continue it',
    'claim_conflict: Cannot claim task 1 (pending): take another one',
    'claim_conflict: Task 1 is reserved for bob: take another one',
    'not_allowed: In delegate mode the lead does no work itself: give the task to a teammate, not to ann',
    'conflict: ann agreed to shut down: it takes no new work',
    'conflict: Team alpha is shutting down: members take no new work',
    'conflict: lead, the lead of team alpha, has stopped: nobody can claim tasks until the team has another lead ' +
      '(troupe team update alpha --lead NAME)',
  ]);
});

test('a team is without its lead when that has been stopped for as long as it may, and does not come back', () => {
  const team = teamOf('ann');
  const kinds = (at: number) => obstacles(team.state, { memberId: 'ann', at }).map(({ kind }) => kind);
  team.as('@system', 'member.leave', { memberId: 'lead', returning: true });
  expect(kinds(team.now + LEAD_GRACE_MS)).toEqual([]);
  team.as('@user', 'member.leave', { memberId: 'lead' });
  expect([kinds(team.now + LEAD_GRACE_MS - 1), kinds(team.now + LEAD_GRACE_MS)]).toEqual([[], ['unled']]);
});

test('a withheld task stays withheld when it is only made free for anybody', () => {
  const team = teamOf('ann');
  const taskId = team.task({ assigneeId: 'ann' });
  withhold(team, taskId, 'its file is broken');
  team.do('task.assign', { taskId, assigneeId: null });
  expect(requireTask(team.state, taskId)).toMatchObject({ assigneeId: undefined, withheld: 'its file is broken' });
});
