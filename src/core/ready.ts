import { pop, push } from './heap.ts';
import type { Heap } from './heap.ts';
import { filesInTheWay } from './in-the-way.ts';
import { obstacles, waits } from './obstacles.ts';
import type { Taker } from './obstacles.ts';
import type { TaskRecord, TeamState } from './state.ts';
import type { SharedTaskPriority } from './task.ts';

/** The tasks that depend on a task, by number. */
export function dependentsOf(state: TeamState, taskId: string): string[] {
  return byNumber(state.index.dependents.get(taskId));
}

/** The open tasks of a member, by number. */
export function assignedTo(state: TeamState, memberId: string): string[] {
  return byNumber(state.index.assigned.get(memberId));
}

/** A Set's order is not kept in snapshots, so sort: decisions must follow from the records alone. */
function byNumber(ids: ReadonlySet<string> | undefined): string[] {
  return ids ? [...ids].sort((a, b) => Number(a) - Number(b)) : [];
}

/** The best task that a member can claim now: a reserved one, else a free one; by priority, then age. */
export function bestReady(state: TeamState, memberId: string): TaskRecord | undefined {
  const own = state.index.reserved.get(memberId);
  const reserved = own && peek(state, own, { memberId, assigneeId: memberId });
  if (reserved) return reserved;
  const free = peek(state, state.index.free, { memberId, assigneeId: undefined });
  const beside = bestBeside(state, memberId);
  return free && beside ? (readyKey(free) < readyKey(beside) ? free : beside) : (free ?? beside);
}

/** The best free task that waits only for files which the member itself changes now. */
function bestBeside(state: TeamState, memberId: string): TaskRecord | undefined {
  const { filed, parked, assigned } = state.index;
  let best: TaskRecord | undefined;
  for (const held of filed.size === 0 ? [] : (assigned.get(memberId) ?? [])) {
    for (const id of parked.get(held) ?? []) {
      const task = state.tasks.get(id);
      if (!task || !isReady(state, task) || task.assigneeId !== undefined) continue;
      if (filesInTheWay(state, task, { memberId }).length > 0) continue;
      if (!best || readyKey(task) < readyKey(best)) best = task;
    }
  }
  return best;
}

/** All tasks that a member can claim now, best first. */
export function allReady(state: TeamState, taker: Taker): TaskRecord[] {
  const rank = (task: TaskRecord): number => (task.assigneeId === undefined ? 1 : 0);
  return [...state.tasks.values()]
    .filter((task) => obstacles(state, taker, task).length === 0)
    .sort((a, b) => rank(a) - rank(b) || byReadiness(a, b));
}

function peek(
  state: TeamState,
  heap: Heap,
  { memberId, assigneeId }: { memberId: string; assigneeId: string | undefined },
): TaskRecord | undefined {
  for (let key = heap[0]; key !== undefined; key = heap[0]) {
    const task = taskOf(state, key, assigneeId);
    const [held] = task ? filesInTheWay(state, task, { memberId }) : [];
    if (task && held === undefined) return task;
    if (task && held !== undefined) park(state, task.id, held);
    pop(heap);
  }
  return undefined;
}

/** Offers a task no longer, until `unpark`: else every claim would look at all tasks that wait for files. */
function park({ index: { parked } }: TeamState, taskId: string, held: string): void {
  const those = parked.get(held);
  if (those) those.add(taskId);
  else parked.set(held, new Set([taskId]));
}

/** Offers the tasks again that waited for the files of a task. */
export function unpark(state: TeamState, held: string): void {
  const those = state.index.parked.get(held);
  state.index.parked.delete(held);
  for (const id of those ?? []) {
    const task = state.tasks.get(id);
    if (task) pushIfReady(state, task);
  }
}

/** The task of a key, if the key is still valid. */
function taskOf(state: TeamState, key: number, assigneeId: string | undefined): TaskRecord | undefined {
  const rank = Math.floor(key / AGE_RANGE);
  const task = state.tasks.get(String(key - rank * AGE_RANGE));
  if (!task || !isReady(state, task)) return undefined;
  return task.assigneeId === assigneeId && RANK[task.priority] === rank ? task : undefined;
}

/** Whether a task is pending and waits for nothing but files: these are looked at when somebody could take it. */
function isReady(state: TeamState, task: TaskRecord): boolean {
  return task.status === 'pending' && !waits(state, task);
}

/** Task ids are below 10^15 < 2^50, so priority and age fit into one exact number: a heap of numbers is the fastest. */
const AGE_RANGE = 2 ** 50;
const RANK: Record<SharedTaskPriority, number> = { critical: 0, high: 1, medium: 2, low: 3 };

/** Whether this is a known priority, by which tasks can be ordered. */
export function isPriority(priority: unknown): priority is SharedTaskPriority {
  return typeof priority === 'string' && Object.hasOwn(RANK, priority);
}

/** The sort key of ready tasks: priority, then age. */
function readyKey(task: TaskRecord): number {
  return RANK[task.priority] * AGE_RANGE + Number(task.id);
}

/** Orders ready tasks: the best first. */
export function byReadiness(a: TaskRecord, b: TaskRecord): number {
  return readyKey(a) - readyKey(b);
}

/** Offers a ready task to members that look for work. */
export function pushIfReady(state: TeamState, task: TaskRecord): void {
  if (!isReady(state, task)) return;
  const { index } = state;
  let heap = index.free;
  if (task.assigneeId !== undefined) {
    const own = index.reserved.get(task.assigneeId);
    if (own) heap = own;
    else index.reserved.set(task.assigneeId, (heap = []));
  }
  // The same task may be pushed many times (each release, each change), so limit the entries that lazy deletion leaves.
  if (heap.length > 2 * state.tasks.size + 64) {
    const holding = [...new Set(heap)].filter((key) => taskOf(state, key, task.assigneeId));
    // A sorted array is a heap.
    heap.splice(0, heap.length, ...holding.sort((a, b) => a - b));
  }
  push(heap, readyKey(task));
}
