import type { Account } from './account.ts';
import { DELETED_TASKS } from './limits.ts';
import type { TeamMessage } from './message.ts';
import type { TeamNote } from './note.ts';
import { isOpen, waitsOf } from './obstacles.ts';
import type { OverlapRecord } from './overlap.ts';
import { pushIfReady, unpark } from './ready.ts';
import type { TeamRequest } from './request.ts';
import { forgetOldReceipts } from './state.ts';
import type { Inbox, MemberRecord, Receipt, TaskRecord, TeamRecord, TeamState, Undo } from './state.ts';
import type { Usage } from './usage.ts';

/*
 * The only functions that change records. Each one replaces one record, updates the derived indexes, and records how to
 * undo the change.
 */

export function putTeam(state: TeamState, next: TeamRecord | undefined): void {
  const before = state.team;
  state.undo?.push(() => putTeam(state, before));
  state.team = next;
}

export function putMember(state: TeamState, id: string, next: MemberRecord | undefined): void {
  put(state, state.members, id, next);
}

export function putRequest(state: TeamState, id: string, next: TeamRequest | undefined): void {
  const before = put(state, state.requests, id, next);
  const { asked } = state.index;
  if (before?.status === 'pending') removeFrom(asked, before.taskId ?? '', id);
  if (next?.status === 'pending') setOf(asked, next.taskId ?? '').add(id);
}

/** Unanswered requests, all or those about one task. They are few, while answered ones only grow in number. */
export function pendingRequests(state: TeamState, taskId?: string): TeamRequest[] {
  const { asked } = state.index;
  const ids = taskId === undefined ? [...asked.values()].flatMap((some) => [...some]) : [...(asked.get(taskId) ?? [])];
  return ids.map((id) => state.requests.get(id) as TeamRequest);
}

export function putNote(state: TeamState, id: string, next: TeamNote | undefined): void {
  const isBack = !state.notes.has(id) && Number(id) < state.nextNote - 1;
  put(state, state.notes, id, next);
  if (isBack) toItsPlace(state.notes, id);
}

/** Moves a record that a rollback restored to the place of its number, or the order would differ from the journal's. */
function toItsPlace<V>(table: Map<string, V>, id: string): void {
  const newer = [...table].filter(([otherId]) => Number(otherId) > Number(id));
  for (const [otherId, other] of newer) {
    table.delete(otherId);
    table.set(otherId, other);
  }
}

export function putBroadcast(state: TeamState, id: string, next: string[] | undefined): void {
  put(state, state.broadcasts, id, next);
}

export function putAccount(state: TeamState, id: string, next: Account | undefined): void {
  put(state, state.accounts, id, next);
}

export function putOverlap(state: TeamState, key: string, next: OverlapRecord | undefined): void {
  put(state, state.overlaps, key, next);
}

/** Forgets what was told about a task that nobody works on any more. */
export function forgetOverlaps(state: TeamState, taskId: string): void {
  for (const [key, { sides }] of state.overlaps) {
    if (sides.some((side) => side.taskId === taskId)) putOverlap(state, key, undefined);
  }
}

export function putUsage(
  state: TeamState,
  table: 'memberUsage' | 'taskUsage',
  id: string,
  next: Usage | undefined,
): void {
  put(state, state[table], id, next);
}

export function putNextTask(state: TeamState, next: number): void {
  const before = state.nextTask;
  state.undo?.push(() => putNextTask(state, before));
  state.nextTask = next;
}

export function countCompletion(state: TeamState): void {
  const before = state.completions;
  state.undo?.push(() => (state.completions = before));
  state.completions = before + 1;
}

export function putNextNote(state: TeamState, next: number): void {
  const before = state.nextNote;
  state.undo?.push(() => putNextNote(state, before));
  state.nextNote = next;
}

/** Records what a command did. A Map keeps its insertion order, so its first key is the oldest. */
export function putReceipt(state: TeamState, commandId: string, receipt: Receipt): void {
  if (state.receipts.has(commandId)) return;
  state.receipts.set(commandId, receipt);
  // Nothing is dropped while a rollback is possible: a dropped receipt could not return to its place.
  if (state.undo) state.undo.push(() => state.receipts.delete(commandId));
  else forgetOldReceipts(state);
}

export function putMessage(state: TeamState, id: string, next: TeamMessage | undefined): void {
  const before = put(state, state.messages, id, next);
  const inbox = inboxOf(state, ((next ?? before) as TeamMessage).toId);
  if (!before) inbox.ids.push(id);
  // Only a rollback removes a message, newest first, so it is the last one.
  if (!next) inbox.ids.pop();
  if (!next || next.acknowledgedAt || next.readAt) inbox.waiting.delete(id);
  else if (!before) inbox.waiting.add(id);
  else if (!inbox.waiting.has(id)) {
    // Only a rollback makes a message wait again. It returns to its place, or mail would be shown out of order.
    inbox.waiting = new Set(inbox.ids.filter((other) => other === id || inbox.waiting.has(other)));
  }
}

function inboxOf(state: TeamState, memberId: string): Inbox {
  let inbox = state.index.inboxes.get(memberId);
  if (!inbox) state.index.inboxes.set(memberId, (inbox = { ids: [], waiting: new Set() }));
  return inbox;
}

export function putTask(state: TeamState, id: string, next: TaskRecord | undefined): void {
  const before = put(state, state.tasks, id, next);
  const { index } = state;
  if (before) index.counts[before.status]--;
  else if (Number(id) < state.nextTask - 1) toItsPlace(state.tasks, id);
  if (next) index.counts[next.status]++;

  if (before?.dependencies !== next?.dependencies || before?.onDependencyFailure !== next?.onDependencyFailure) {
    for (const dependency of before?.dependencies ?? []) removeFrom(index.dependents, dependency, id);
    for (const dependency of next?.dependencies ?? []) setOf(index.dependents, dependency).add(id);
    setWaits(state, id, next ? next.dependencies.filter((other) => isOpen(next, state.tasks.get(other))).length : 0);
  }
  if (before?.status !== next?.status) {
    for (const dependentId of index.dependents.get(id) ?? []) {
      const dependent = state.tasks.get(dependentId) as TaskRecord;
      const change = Number(isOpen(dependent, next)) - Number(isOpen(dependent, before));
      if (change === 0) continue;
      setWaits(state, dependentId, waitsOf(state, dependentId) + change);
      pushIfReady(state, dependent);
    }
  }

  const filed = filesOf(before);
  if (filed !== filesOf(next) || (filed && before?.assigneeId !== next?.assigneeId)) {
    if (filesOf(next)) index.filed.add(id);
    else index.filed.delete(id);
    unpark(state, id);
  }

  const owner = openAssignee(before);
  const newOwner = openAssignee(next);
  if (owner !== newOwner) {
    if (owner !== undefined) index.assigned.get(owner)?.delete(id);
    if (newOwner !== undefined) setOf(index.assigned, newOwner).add(id);
  }
  if (next) pushIfReady(state, next);
}

/** Records a deleted task. If there are too many, the oldest one is forgotten. */
export function noteDeleted(state: TeamState, taskId: string): void {
  const { deleted, undo } = state;
  if (deleted.has(taskId)) return;
  deleted.add(taskId);
  undo?.push(() => deleted.delete(taskId));
  for (const oldest of deleted) {
    if (deleted.size <= DELETED_TASKS) return;
    putTask(state, oldest, undefined);
    deleted.delete(oldest);
    undo?.push(() => refill(deleted, [oldest, ...deleted]));
  }
}

/** Records that a deleted task was reopened. */
export function noteReturned(state: TeamState, taskId: string): void {
  const { deleted, undo } = state;
  if (!deleted.has(taskId)) return;
  const before = [...deleted];
  deleted.delete(taskId);
  undo?.push(() => refill(deleted, before));
}

function refill(set: Set<string>, ids: readonly string[]): void {
  set.clear();
  for (const id of ids) set.add(id);
}

function put<V>(state: TeamState, table: Map<string, V>, key: string, next: V | undefined): V | undefined {
  const before = table.get(key);
  if (next === undefined) table.delete(key);
  else table.set(key, next);
  if (state.undo) noteUndo(state, state.undo, table, key, before);
  return before;
}

function noteUndo<V>(state: TeamState, undo: Undo, table: Map<string, V>, key: string, before: V | undefined): void {
  if ((table as unknown) === state.tasks) undo.push(() => putTask(state, key, before as TaskRecord | undefined));
  else if ((table as unknown) === state.messages) {
    undo.push(() => putMessage(state, key, before as TeamMessage | undefined));
  } else if ((table as unknown) === state.notes) {
    undo.push(() => putNote(state, key, before as TeamNote | undefined));
  } else if ((table as unknown) === state.requests) {
    undo.push(() => putRequest(state, key, before as TeamRequest | undefined));
  } else undo.push(() => put(state, table, key, before));
}

function setWaits(state: TeamState, taskId: string, count: number): void {
  if (count > 0) state.index.waits.set(taskId, count);
  else state.index.waits.delete(taskId);
}

function setOf(map: Map<string, Set<string>>, key: string): Set<string> {
  let set = map.get(key);
  if (!set) map.set(key, (set = new Set()));
  return set;
}

/** Also removes an empty set: otherwise there would be one for every task that ever existed. */
function removeFrom(map: Map<string, Set<string>>, key: string, id: string): void {
  const set = map.get(key);
  set?.delete(id);
  if (set?.size === 0) map.delete(key);
}

/** The files that a task in progress changes. */
function filesOf(task: TaskRecord | undefined): readonly string[] | undefined {
  return task?.status === 'in_progress' ? task.files : undefined;
}

function openAssignee(task: TaskRecord | undefined): string | undefined {
  return task && (task.status === 'pending' || task.status === 'in_progress') ? task.assigneeId : undefined;
}
