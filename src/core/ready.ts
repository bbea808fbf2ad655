import { pop, push } from './heap.ts';
import type { Heap } from './heap.ts';
import { isBlocked, obstacles } from './obstacles.ts';
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
  return (own && peek(state, own, memberId)) ?? peek(state, state.index.free, undefined);
}

/** All tasks that a member can claim now, best first. */
export function allReady(state: TeamState, taker: Taker): TaskRecord[] {
  const rank = (task: TaskRecord): number => (task.assigneeId === undefined ? 1 : 0);
  return [...state.tasks.values()]
    .filter((task) => obstacles(state, taker, task).length === 0)
    .sort((a, b) => rank(a) - rank(b) || readyKey(a) - readyKey(b));
}

function peek(state: TeamState, heap: Heap, assigneeId: string | undefined): TaskRecord | undefined {
  for (let key = heap[0]; key !== undefined; key = heap[0]) {
    const task = taskOf(state, key, assigneeId);
    if (task) return task;
    pop(heap);
  }
  return undefined;
}

/** The task of a key, if the key is still valid. */
function taskOf(state: TeamState, key: number, assigneeId: string | undefined): TaskRecord | undefined {
  const rank = Math.floor(key / AGE_RANGE);
  const task = state.tasks.get(String(key - rank * AGE_RANGE));
  if (!task || !isReady(state, task)) return undefined;
  return task.assigneeId === assigneeId && RANK[task.priority] === rank ? task : undefined;
}

/** Whether a task is pending and waits for nothing. */
function isReady(state: TeamState, task: TaskRecord): boolean {
  return task.status === 'pending' && !isBlocked(state, task);
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
