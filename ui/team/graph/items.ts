import type { TaskPhase, TaskView } from '../../data/task-view.ts';
import type { Knot } from './layers.ts';

/** From so many tasks on, alike ones are folded: a smaller graph is readable without. */
const FOLD_FROM = 60;
/** So many alike tasks become one node. */
const FOLD_MIN = 5;

/** Tasks with the same dependencies and the same dependents. */
export interface Group {
  readonly id: string;
  readonly taskIds: readonly string[];
}

/** A node of the graph: one task, or several alike ones. */
export interface Item {
  readonly id: string;
  /** Where it is placed: a task, or a slot of its group. */
  readonly slot: string;
  readonly tasks: readonly TaskView[];
  /** Of several tasks: whether they are also shown one by one. */
  readonly fold?: 'closed' | 'open';
  readonly phase: TaskPhase;
}

const ORDER: readonly TaskPhase[] = ['gate', 'failed', 'in_progress', 'pending', 'blocked', 'completed'];

/** The groups of a large graph. They follow from its structure alone, so that a new status moves no node. */
export function groupsOf(tasks: readonly TaskView[], isFolding: boolean): Group[] {
  if (!isFolding || tasks.length < FOLD_FROM) return [];
  const alike = Map.groupBy(
    tasks,
    ({ task: { dependencies, blocks } }) => `${dependencies.toSorted().join()} ${blocks.toSorted().join()}`,
  );
  return [...alike.values()].flatMap((all) =>
    all.length < FOLD_MIN ? [] : { id: `group-${all[0]?.id}`, taskIds: all.map(({ id }) => id) },
  );
}

/** How a person wants the graph. */
export interface Wishes {
  /** The ids of items that are unfolded. */
  readonly open: ReadonlySet<string>;
  /** A task that is shown alone, because it is open beside the graph. */
  readonly shown: string | undefined;
  /** How many nodes a group has room for; it gets more when the graph is arranged again. */
  readonly room?: ReadonlyMap<string, number> | undefined;
}

/** The nodes of the graph, tasks in their order; a group is where its first task is. */
export function itemsOf(tasks: readonly TaskView[], groups: readonly Group[], wishes: Wishes): Item[] {
  const groupOf = new Map(groups.flatMap((group) => group.taskIds.map((id) => [id, group] as const)));
  const members = Map.groupBy(tasks, ({ id }) => groupOf.get(id));
  const done = new Set<Group>();
  return tasks.flatMap((view): Item[] => {
    const group = groupOf.get(view.id);
    if (!group) return [{ id: view.id, slot: view.id, tasks: [view], phase: view.phase }];
    if (done.has(group)) return [];
    done.add(group);
    return itemsIn(group, members.get(group) ?? [], wishes);
  });
}

function itemsIn(group: Group, all: readonly TaskView[], { open, shown, room }: Wishes): Item[] {
  const items: Omit<Item, 'slot'>[] = [];
  const single = (view: TaskView): Omit<Item, 'slot'> => ({ id: view.id, tasks: [view], phase: view.phase });
  for (const phase of ORDER) {
    const alike = all.filter((view) => view.phase === phase);
    const id = `${group.id} ${phase}`;
    const folded = alike.filter((view) => view.id !== shown);
    if (folded.length < FOLD_MIN) items.push(...alike.map(single));
    else if (open.has(id)) items.push({ id, tasks: alike, phase, fold: 'open' }, ...alike.map(single));
    else {
      items.push(...alike.filter((view) => view.id === shown).map(single));
      items.push({ id, tasks: folded, phase, fold: 'closed' });
    }
  }
  return withinRoom(group, items, room?.get(group.id) ?? Infinity).map((item, i) => ({
    ...item,
    slot: slotOf(group.id, i),
  }));
}

/** In the past a group may have more kinds of tasks than it has places now: the last place has all the others. */
function withinRoom(group: Group, items: Omit<Item, 'slot'>[], room: number): Omit<Item, 'slot'>[] {
  if (items.length <= room) return items;
  const rest = items.slice(room - 1);
  const tasks = [...new Set(rest.flatMap((item) => item.tasks))];
  return [
    ...items.slice(0, room - 1),
    { id: `${group.id} rest`, tasks, phase: rest[0]?.phase ?? 'pending', fold: 'closed' },
  ];
}

/** The name of a place of a group. */
export function slotOf(groupId: string, i: number): string {
  return `${groupId}/${i}`;
}

/** How many nodes each group has. */
export function countSlots(items: readonly Item[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { slot } of items) {
    const [group = '', i] = slot.split('/');
    if (i !== undefined) counts.set(group, Math.max(counts.get(group) ?? 0, Number(i) + 1));
  }
  return counts;
}

/** What the layout places: each task of its own, and the slots of each group. */
export function knotsOf(
  tasks: readonly TaskView[],
  groups: readonly Group[],
  slots: ReadonlyMap<string, number>,
): Knot[] {
  const groupOf = new Map(groups.flatMap((group) => group.taskIds.map((id) => [id, group] as const)));
  const done = new Set<Group>();
  return tasks.flatMap(({ id, task }): Knot[] => {
    const group = groupOf.get(id);
    const needs = [
      ...new Set(
        task.dependencies.map((need) => {
          const other = groupOf.get(need);
          return other ? slotOf(other.id, 0) : need;
        }),
      ),
    ];
    if (!group) return [[id, needs]];
    if (done.has(group)) return [];
    done.add(group);
    return Array.from({ length: slots.get(group.id) ?? 1 }, (_, i): Knot => [slotOf(group.id, i), needs]);
  });
}

/** A line of the graph, between two nodes. */
export interface Line {
  readonly from: string;
  readonly to: string;
  readonly isMet: boolean;
  readonly isCritical: boolean;
}

/** The dependencies between nodes; several between the same two are one line. */
export function linesOf(items: readonly Item[], critical: ReadonlySet<string>): Line[] {
  const nodeOf = new Map<string, Item>();
  const phases = new Map<string, TaskPhase>();
  for (const item of items) {
    if (item.fold === 'open') continue;
    for (const { id, phase } of item.tasks) {
      nodeOf.set(id, item);
      phases.set(id, phase);
    }
  }
  const lines = new Map<string, Line>();
  for (const item of items) {
    if (item.fold === 'open') continue;
    const isOn = item.tasks.some(({ id }) => critical.has(id));
    // Tasks of one group have the same dependencies.
    for (const need of item.tasks[0]?.task.dependencies ?? []) {
      const from = nodeOf.get(need);
      if (!from) continue;
      const key = `${from.id}-${item.id}`;
      const before = lines.get(key);
      lines.set(key, {
        from: from.id,
        to: item.id,
        isMet: (before?.isMet ?? true) && phases.get(need) === 'completed',
        isCritical: (before?.isCritical ?? false) || (isOn && critical.has(need)),
      });
    }
  }
  return [...lines.values()];
}
