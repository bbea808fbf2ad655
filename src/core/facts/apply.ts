import type { Budget, BudgetMeasure } from '../budget.ts';
import type { EventNoun, EventOf, EventType } from '../event.ts';
import type { TeamRequest } from '../request.ts';
import type { MemberRecord, TaskRecord, TeamState } from '../state.ts';
import { forgetOverlaps, pendingRequests, putMember, putRequest, putTask } from '../tables.ts';
import { dateOf } from '../time.ts';

/** How each event changes the state. */
export type Apply = { [T in EventType]: (state: TeamState, event: EventOf<T>) => void };

/** The part about one noun: `ApplyTo<'task'>` has `task:created`, `task:claimed` ... */
export type ApplyTo<Noun extends EventNoun> = Pick<Apply, Extract<EventType, `${Noun}:${string}`>>;

/** Replaces a member's record. */
export function changeMember(state: TeamState, id: string, change: (member: MemberRecord) => MemberRecord): void {
  const member = state.members.get(id);
  if (member) putMember(state, id, change(member));
}

/** Replaces a task's record; `change` returns a changed copy. */
export function changeTask(
  state: TeamState,
  id: string,
  at: number,
  change: (task: TaskRecord, now: Date) => TaskRecord,
): void {
  const task = state.tasks.get(id);
  if (!task) return;
  const now = dateOf(at);
  const next = change(task, now);
  next.updatedAt = now;
  next.revision = task.revision + 1;
  // A lease ends with the claim that it is for.
  if (next.status !== 'in_progress') {
    next.lease = undefined;
    next.leaseUntil = undefined;
  }
  putTask(state, id, next);
  // Nobody works on it any more, so the question whether the work is good enough is obsolete.
  if (task.status === 'in_progress' && next.status !== 'in_progress') {
    withdrawRequests(state, ({ kind }) => kind === 'gate' || kind === 'budget' || isAboutApproval(kind), id);
    forgetOverlaps(state, id);
  }
  // A task that was only given back may be taken up again, and then the answer is still needed.
  if (next.status !== 'pending' && next.status !== 'in_progress' && next.status !== task.status) {
    withdrawRequests(state, ({ kind }) => kind === 'question', id);
  }
}

/** Whether a request asks for the approval of work. */
export function isAboutApproval(kind: TeamRequest['kind']): boolean {
  return kind === 'work' || kind === 'review';
}

/** Withdraws the matching pending requests: of all, or of those about a task. */
export function withdrawRequests(state: TeamState, which: (request: TeamRequest) => boolean, taskId?: string): void {
  for (const request of pendingRequests(state, taskId)) {
    if (which(request)) putRequest(state, request.id, { ...request, status: 'withdrawn' });
  }
}

/** A question about a limit that changed is obsolete: of the team, of a member, or of a task. */
export function withdrawBudgets(
  state: TeamState,
  { before, after, ...owner }: { before: Budget | undefined; after: Budget; memberId?: string; taskId?: string },
): void {
  const of = owner.taskId !== undefined ? 'task' : owner.memberId !== undefined ? 'member' : 'team';
  withdrawRequests(state, ({ kind, detail, memberId, taskId }) => {
    const isOurs =
      detail?.['of'] === of &&
      (of === 'team' || (of === 'task' ? taskId === owner.taskId : memberId === owner.memberId));
    const what = detail?.['what'] as BudgetMeasure;
    return kind === 'budget' && isOurs && before?.[what] !== after[what];
  });
}

/** Removes undefined fields, so that an update does not erase what it does not mention. */
export function defined<T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: Partial<T> = {};
  for (const key in changes) if (changes[key] !== undefined) kept[key] = changes[key];
  return kept as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** A record with every field named, so that no new one is forgotten. */
export type Whole<T> = { [K in keyof Required<T>]: T[K] };
