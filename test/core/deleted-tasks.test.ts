import { describe, expect, test } from 'vitest';
import { decide } from '../../src/core/decide.ts';
import { evolve } from '../../src/core/evolve.ts';
import { DELETED_TASKS } from '../../src/core/limits.ts';
import { openSnapshot, takeSnapshot } from '../../src/core/snapshot.ts';
import { createState, keepChanges, noteChanges, takeBackTo } from '../../src/core/state.ts';
import { picture } from './picture.ts';
import { commandOf, teamOf } from './stage.ts';

describe('deleted tasks', () => {
  test('are forgotten after many newer ones, in the order of their deletion; the others can be reopened', () => {
    const team = teamOf('ann');
    const [first, second, kept] = [team.task(), team.task(), team.task()];
    team.do('task.addDependencies', { taskId: kept, dependencies: [first] });
    team.do('task.delete', { taskId: second });
    team.do('task.delete', { taskId: first });
    for (let made = 0; made < DELETED_TASKS; made++) {
      team.do('task.delete', { taskId: team.task({ dependencies: [kept] }) });
    }

    expect(team.state.tasks.size).toBe(DELETED_TASKS + 1);
    expect(team.state.index.counts).toMatchObject({ pending: 1, deleted: DELETED_TASKS });
    // The index keeps only the dependents of the one task that is left.
    expect([...team.state.index.dependents.keys()]).toEqual([kept]);
    expect(team.state.index.dependents.get(kept)?.size).toBe(DELETED_TASKS);
    for (const taskId of [first, second]) {
      expect(team.refuse('lead', 'task.reopen', { taskId })).toMatchObject({
        code: 'not_found',
        message: `Task "${taskId}" of team alpha does not exist; it may have been deleted`,
      });
    }
    const next = String(team.state.nextTask);
    expect(team.refuse('lead', 'task.reopen', { taskId: next }).message).toBe(
      `Task "${next}" of team alpha does not exist`,
    );

    const oldest = String(Number(kept) + 1);
    team.do('task.reopen', { taskId: oldest });
    expect(team.view(oldest)).toMatchObject({ status: 'blocked', dependencies: [kept] });
    expect(team.state.deleted.has(oldest)).toBe(false);
    team.do('task.delete', { taskId: team.task() });
    expect(team.view(String(Number(kept) + 2)).status).toBe('deleted');
  });

  test('are forgotten alike live, in a replay, from a snapshot, and after a rollback', () => {
    const team = teamOf('ann');
    const kept = team.task();
    for (let made = 0; made < DELETED_TASKS; made++) team.do('task.delete', { taskId: team.task() });
    const was = picture(team.state);
    noteChanges(team.state);
    const back = String(Number(kept) + 2);
    const by = { by: 'lead', at: 9 };
    for (const command of [
      commandOf('task.delete', { taskId: kept }, by),
      commandOf('task.reopen', { taskId: back }, by),
      commandOf('task.create', { title: 'one more', dependencies: [back] }, by),
      commandOf('task.delete', { taskId: back }, by),
      commandOf('task.delete', { taskId: String(Number(kept) + DELETED_TASKS + 1) }, by),
    ]) {
      for (const event of decide(team.state, command)) evolve(team.state, event);
    }
    expect(team.state.tasks.has(String(Number(kept) + 1))).toBe(false);
    expect(team.state.deleted.size).toBe(DELETED_TASKS);
    const opened = openSnapshot('alpha', takeSnapshot(team.state));
    expect(picture(opened ?? createState(''))).toEqual(picture(team.state));
    takeBackTo(team.state, 0);
    keepChanges(team.state);
    expect(picture(team.state)).toEqual(was);

    const replayed = createState('alpha');
    for (const event of team.events) evolve(replayed, event);
    expect(picture(replayed)).toEqual(was);
  });
});

test('a second event about the deletion of a task changes nothing', () => {
  const team = teamOf();
  for (const taskId of [team.task(), team.task()]) team.do('task.delete', { taskId });
  const event = { type: 'task:deleted', at: 0, by: 'lead', taskId: '1', epoch: 9 } as const;
  evolve(team.state, event);
  expect([...team.state.deleted]).toEqual(['1', '2']);
});
