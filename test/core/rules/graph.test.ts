import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evolve } from '../../../src/core/evolve.ts';
import { DEPENDENCIES_PER_TASK } from '../../../src/core/limits.ts';
import { tries } from '../../proof.ts';
import { teamOf, types } from '../stage.ts';
import type { Stage } from '../stage.ts';

describe('an added dependency', () => {
  test('blocks its task', () => {
    const team = teamOf('ann');
    const [first, second, taskId] = [team.task(), team.task(), team.task()] as const;
    expect(team.as('ann', 'task.addDependencies', { taskId, dependencies: [first, second, first] })).toMatchObject([
      { type: 'task:dependencies-added', taskId, dependencies: [first, second] },
    ]);
    expect(team.view(taskId)).toMatchObject({ status: 'blocked', dependencies: [first, second], revision: 2 });
    expect(team.view(first).blocks).toEqual([taskId]);
    expect(team.as('ann', 'task.addDependencies', { taskId, dependencies: [first] })).toEqual([]);
  });

  test('that is completed blocks nothing', () => {
    const team = teamOf('ann');
    const [first, taskId] = [team.task(), team.task()] as const;
    team.do('task.complete', { taskId: first });
    team.do('task.addDependencies', { taskId, dependencies: [first] });
    expect(team.claimNext('ann')).toBe(taskId);
  });

  test('must be there', () => {
    const team = teamOf();
    const [first, taskId] = [team.task(), team.task()] as const;
    team.do('task.delete', { taskId: first });
    for (const id of [first, '99']) {
      expect(team.refuse('lead', 'task.addDependencies', { taskId, dependencies: [id] })).toMatchObject({
        code: 'not_found',
        message: expect.stringContaining(`Task "${id}" of team alpha`) as string,
      });
    }
    expect(team.refuse('lead', 'task.addDependencies', { taskId: '99', dependencies: [taskId] }).code).toBe(
      'not_found',
    );
  });

  test('is one of at most 64', () => {
    const team = teamOf();
    const ids = Array.from({ length: DEPENDENCIES_PER_TASK + 1 }, () => team.task());
    const taskId = team.task({ dependencies: ids.slice(0, DEPENDENCIES_PER_TASK) });
    expect(team.refuse('lead', 'task.addDependencies', { taskId, dependencies: ids.slice(-1) })).toMatchObject({
      code: 'limit',
      message: `Task ${taskId} would wait for more than 64 tasks: put another task in between`,
    });
    expect(team.refuse('lead', 'task.create', { title: 't', dependencies: ids })).toMatchObject({ code: 'invalid' });
    expect(team.do('task.addDependencies', { taskId, dependencies: ids.slice(0, 3) })).toEqual([]);
  });
});

describe('a removed dependency', () => {
  test('no longer blocks its task', () => {
    const team = teamOf('ann');
    const [first, second, third] = [team.task(), team.task(), team.task()] as const;
    const taskId = team.task({ dependencies: [first, second, third] });
    team.do('task.complete', { taskId: third });
    const remove = (dependencies: string[]) => types(team.do('task.removeDependencies', { taskId, dependencies }));
    expect(remove([third])).toEqual(['task:dependencies-removed']);
    expect(remove([first, first])).toEqual(['task:dependencies-removed']);
    expect(remove([first, '99'])).toEqual([]);
    expect(remove([second])).toEqual(['task:dependencies-removed', 'task:unblocked']);
    expect(team.view(taskId)).toMatchObject({ status: 'pending', dependencies: [] });
    expect(team.view(first).blocks).toEqual([]);
  });

  test('that is completed unblocks nothing', () => {
    const team = teamOf();
    const first = team.task();
    const taskId = team.task({ dependencies: [first] });
    team.do('task.complete', { taskId: first });
    expect(types(team.do('task.removeDependencies', { taskId, dependencies: [first] }))).toEqual([
      'task:dependencies-removed',
    ]);
  });
});

test.each(['task.addDependencies', 'task.removeDependencies'] as const)('%s is for pending tasks only', (type) => {
  const team = teamOf('ann');
  const [first, taskId] = [team.task(), team.task()] as const;
  const next = 'cannot change now: release or reopen it first';
  team.as('ann', 'task.claim', { taskId });
  expect(team.refuse('lead', type, { taskId, dependencies: [first] })).toMatchObject({
    code: 'conflict',
    message: `The dependencies of task ${taskId} (in progress, held by ann) ${next}`,
  });
  team.as('ann', 'task.complete', { taskId });
  expect(team.refuse('lead', type, { taskId, dependencies: [first] })).toMatchObject({
    code: 'conflict',
    message: `The dependencies of task ${taskId} (completed) ${next}`,
  });
  team.do('task.delete', { taskId });
  expect(team.refuse('lead', type, { taskId, dependencies: [first] })).toMatchObject({ code: 'not_found' });
  expect(team.refuse('eve', type, { taskId: first, dependencies: [taskId] })).toMatchObject({ code: 'not_found' });
});

describe('a cycle', () => {
  test('of one is refused', () => {
    const team = teamOf();
    const taskId = team.task();
    expect(team.refuse('lead', 'task.addDependencies', { taskId, dependencies: [taskId] })).toMatchObject({
      code: 'cycle',
      message: 'Task 1 cannot wait for task 1: 1 waits for 1',
    });
  });

  test('of two is refused', () => {
    const team = chain(2);
    expect(team.refuse('lead', 'task.addDependencies', { taskId: '1', dependencies: ['2'] })).toMatchObject({
      code: 'cycle',
      message: 'Task 1 cannot wait for task 2: 1 waits for 2 waits for 1',
    });
    expect(team.view('1').dependencies).toEqual([]);
  });

  test('of a thousand is refused, with its ends and its length', () => {
    const team = chain(1000);
    const { code, message } = team.refuse('lead', 'task.addDependencies', { taskId: '1', dependencies: ['1000'] });
    expect(code).toBe('cycle');
    const [head, path] = message.split(': ');
    expect(head).toBe('Task 1 cannot wait for task 1000');
    const named = ['1', '1000', '999', '998', '997', '… (991 more) …', '5', '4', '3', '2', '1'];
    expect(path?.split(' waits for ')).toEqual(named);
  });

  test('of a few is listed from its beginning to its end', () => {
    const team = chain(14);
    const { message } = team.refuse('lead', 'task.addDependencies', { taskId: '1', dependencies: ['14'] });
    const named = ['1', ...Array.from({ length: 14 }, (_, i) => String(14 - i))];
    expect(message.split(': ')[1]?.split(' waits for ')).toEqual(named);
  });

  test('names the dependency that closes it, among others that do not', () => {
    const team = chain(3);
    const [free, other] = [team.task(), team.task()] as const;
    const refusal = team.refuse('lead', 'task.addDependencies', { taskId: '1', dependencies: [free, '3', other] });
    expect(refusal.message).toBe('Task 1 cannot wait for task 3: 1 waits for 3 waits for 2 waits for 1');
  });

  test('is neither a diamond nor two paths to one task', () => {
    const team = teamOf('ann');
    const top = team.task();
    const [left, right] = [team.task({ dependencies: [top] }), team.task({ dependencies: [top] })] as const;
    const bottom = team.task({ dependencies: [left, right] });
    team.do('task.addDependencies', { taskId: bottom, dependencies: [top] });
    expect(team.refuse('lead', 'task.addDependencies', { taskId: top, dependencies: [bottom] }).code).toBe('cycle');
    team.do('task.complete', { taskId: top });
    expect(team.tasks('blocked')).toEqual([bottom]);
    expect(types(team.do('task.complete', { taskId: left }))).toEqual(['task:completed']);
    expect(types(team.do('task.complete', { taskId: right }))).toEqual(['task:completed', 'task:unblocked']);
  });

  test('is searched once per task, not once per path', () => {
    const team = teamOf();
    const first = team.task();
    let floor = [first];
    for (let i = 0; i < 60; i++) {
      const dependencies = floor;
      floor = [1, 2].map(() => team.task({ dependencies }));
    }
    const refusal = team.refuse('lead', 'task.addDependencies', { taskId: first, dependencies: floor });
    expect(refusal.message).toContain(' waits for … (52 more) … waits for ');
    team.do('task.addDependencies', { taskId: team.task(), dependencies: floor });
  });

  test('includes completed tasks, because they may be reopened', () => {
    const team = chain(3);
    team.do('task.complete', { taskId: '2' });
    expect(team.refuse('lead', 'task.addDependencies', { taskId: '1', dependencies: ['3'] }).code).toBe('cycle');
  });

  test('is broken by deleting a task, and not closed by reopening it', () => {
    const team = chain(3);
    team.do('task.delete', { taskId: '2' });
    team.do('task.addDependencies', { taskId: '1', dependencies: ['3'] });
    team.do('task.reopen', { taskId: '2' });
    expect(team.view('2')).toMatchObject({ blockedBy: ['1'], blocks: [] });
    expect(team.refuse('lead', 'task.addDependencies', { taskId: '3', dependencies: ['2'] }).message).toBe(
      'Task 3 cannot wait for task 2: 3 waits for 2 waits for 1 waits for 3',
    );
  });

  test('is found past an unknown dependency', () => {
    const team = teamOf();
    const [first, second] = [team.task(), team.task()] as const;
    const foreign = { type: 'task:dependencies-added', at: 0, by: 'lead', taskId: second } as const;
    evolve(team.state, { ...foreign, dependencies: ['99'] });
    team.do('task.addDependencies', { taskId: first, dependencies: [second] });
    expect(team.tasks('blocked')).toEqual([first]);
    expect(team.refuse('lead', 'task.addDependencies', { taskId: second, dependencies: [first] }).code).toBe('cycle');
  });

  test('never forms, and only real ones are refused: any graph, compared with a search for strong components', () => {
    const edge = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }));
    fc.assert(
      fc.property(fc.array(edge, { maxLength: 40 }), (edges) => {
        const team = teamOf();
        for (let i = 0; i < 8; i++) team.task();
        const graph = new Map<string, Set<string>>();
        for (const [from, to] of edges) {
          const [taskId, dependency] = [String(from), String(to)];
          const next = new Map([...graph].map(([id, ids]) => [id, new Set(ids)]));
          next.set(taskId, new Set(next.get(taskId)).add(dependency));
          const input = { taskId, dependencies: [dependency] };
          if (isAcyclic(next)) {
            team.do('task.addDependencies', input);
            graph.set(taskId, next.get(taskId) as Set<string>);
          } else {
            const { code, message } = team.refuse('lead', 'task.addDependencies', input);
            expect(code).toBe('cycle');
            expectRealCycle(next, message);
          }
          expect(new Set(team.view(taskId).dependencies)).toEqual(graph.get(taskId) ?? new Set());
        }
      }),
      tries(67),
    );
  });
});

/** Task 1, task 2 that depends on it, task 3 that depends on task 2, and so on. */
function chain(length: number): Stage {
  const team = teamOf();
  for (let i = 1; i <= length; i++) team.task({ dependencies: i === 1 ? [] : [String(i - 1)] });
  return team;
}

/** Tarjan: a graph is acyclic if each strong component is a single node without an edge to itself. */
function isAcyclic(graph: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  let acyclic = true;
  const visit = (id: string) => {
    index.set(id, index.size);
    low.set(id, index.get(id) as number);
    stack.push(id);
    for (const next of graph.get(id) ?? []) {
      if (next === id) acyclic = false;
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(id, Math.min(low.get(id) as number, low.get(next) as number));
    }
    if (low.get(id) !== index.get(id)) return;
    if (stack.splice(stack.indexOf(id)).length > 1) acyclic = false;
  };
  for (const id of graph.keys()) if (!index.has(id)) visit(id);
  return acyclic;
}

/** Every step that the message names is an edge, and it ends where it began. */
function expectRealCycle(graph: ReadonlyMap<string, ReadonlySet<string>>, message: string): void {
  const path = message.split(': ')[1]?.split(' waits for ') ?? [];
  expect(path.length).toBeGreaterThan(1);
  expect(path.at(-1)).toBe(path[0]);
  expect(new Set(path).size).toBe(path.length - 1);
  for (const [i, id] of path.slice(1).entries()) expect(graph.get(path[i] as string)?.has(id)).toBe(true);
}
