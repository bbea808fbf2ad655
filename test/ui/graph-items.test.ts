import { describe, expect, test } from 'vitest';
import type { TaskPhase, TaskView } from '../../ui/data/task-view.ts';
import { countSlots, groupsOf, itemsOf, knotsOf, linesOf } from '../../ui/team/graph/items.ts';
import type { Item } from '../../ui/team/graph/items.ts';

/** A first task, 70 alike ones that need it, and a last one that needs them all. */
const ALIKE = Array.from({ length: 70 }, (_, i) => String(i + 2));
function makeTasks(phaseOf: (id: string) => TaskPhase = () => 'blocked'): TaskView[] {
  const view = (id: string, dependencies: readonly string[], blocks: readonly string[]): TaskView =>
    ({ id, phase: phaseOf(id), task: { id, title: `Task ${id}`, dependencies, blocks } }) as unknown as TaskView;
  return [view('1', [], ALIKE), ...ALIKE.map((id) => view(id, ['1'], ['72'])), view('72', ALIKE, [])];
}

const NOTHING = { open: new Set<string>(), shown: undefined };
const ids = (items: readonly Item[]): string[] => items.map(({ id }) => id);

describe('alike tasks in the graph', () => {
  const tasks = makeTasks();
  const groups = groupsOf(tasks, true);

  test('are one node, with one line to each side; each task has one node', () => {
    const items = itemsOf(tasks, groups, NOTHING);
    expect(ids(items)).toEqual(['1', 'group-2 blocked', '72']);
    expect(items.flatMap((item) => item.tasks.map(({ id }) => id)).toSorted()).toEqual(
      tasks.map(({ id }) => id).toSorted(),
    );
    expect(linesOf(items, new Set()).map(({ from, to }) => `${from} > ${to}`)).toEqual([
      '1 > group-2 blocked',
      'group-2 blocked > 72',
    ]);
  });

  test('are not folded in a small team, nor if nobody wants it', () => {
    expect(groupsOf(tasks.slice(0, 50), true)).toEqual([]);
    expect(groupsOf(tasks, false)).toEqual([]);
  });

  test('are one node for each status; few of one status, and the open task, are alone', () => {
    const phases: Readonly<Record<string, TaskPhase>> = { '5': 'failed', '6': 'in_progress', '7': 'in_progress' };
    const now = makeTasks((id) => phases[id] ?? (Number(id) < 30 ? 'completed' : 'pending'));
    expect(ids(itemsOf(now, groups, { ...NOTHING, shown: '40' }))).toEqual([
      '1',
      '5',
      '6',
      '7',
      '40',
      'group-2 pending',
      'group-2 completed',
      '72',
    ]);
  });

  test('unfold, and have a place each; a group that has less room puts the rest into its last place', () => {
    const open = itemsOf(tasks, groups, { ...NOTHING, open: new Set(['group-2 blocked']) });
    expect(open).toHaveLength(1 + 1 + 70 + 1);
    expect(new Set(open.map(({ slot }) => slot)).size).toBe(open.length);
    const knots = knotsOf(tasks, groups, countSlots(open));
    expect(knots.map(([id]) => id).toSorted()).toEqual(open.map(({ slot }) => slot).toSorted());
    const narrow = itemsOf(tasks, groups, {
      open: new Set(['group-2 blocked']),
      shown: undefined,
      room: new Map([['group-2', 3]]),
    });
    expect(narrow.map(({ tasks: { length } }) => length)).toEqual([1, 70, 1, 69, 1]);
  });
});
