import type { TeamRequest } from './request.ts';
import type { SharedTask } from './task.ts';

/** As in memory, or as sent over the wire. */
type Moment = Date | string;

/** The fields of a request that tell how long its member waited for the answer. */
export interface Asked extends Pick<TeamRequest, 'kind' | 'memberId' | 'taskId' | 'status'> {
  readonly requestedAt: Moment;
  readonly answeredAt?: Moment | undefined;
}

/** A task and its holder. */
type Held = Pick<SharedTask, 'id' | 'assigneeId'>;

/** A time span, in milliseconds since 1970. */
export type Span = readonly [from: number, to: number];

/**
 * How long a member worked within a span in which it held a task: the span without the waits for answers, in
 * milliseconds. A withdrawn plan counts as waiting until the next plan, but only within the span in which it was
 * submitted: its member gave up the task. After a plan was approved its member works, even if it submits more plans. A
 * shutdown request does not stop work. Nor does a question about a budget: the turn goes on until its grace is over.
 */
export function workIn([start, end]: Span, requests: Iterable<Asked>, memberId: string): number {
  const asked = [...requests]
    .filter(({ memberId: whose, kind }) => whose === memberId && kind !== 'shutdown' && kind !== 'budget')
    .map((request) => ({ ...request, at: timeOf(request.requestedAt) }))
    .filter(({ status, at }) => status !== 'withdrawn' || at >= start)
    .sort((a, b) => a.at - b.at);
  const plans = asked.filter(({ kind }) => kind === 'plan');
  const approvedAt = plans.find(({ status }) => status === 'approved')?.at ?? Infinity;
  let worked = 0;
  let from = start;
  for (const request of asked) {
    const isPlan = request.kind === 'plan';
    if (isPlan && request.at > approvedAt) continue;
    const next = isPlan ? plans[plans.indexOf(request) + 1]?.at : undefined;
    const answered = request.answeredAt === undefined ? (next ?? end) : timeOf(request.answeredAt);
    worked += Math.max(0, Math.min(request.at, end) - from);
    from = Math.min(end, Math.max(from, answered));
  }
  return worked + Math.max(0, end - from);
}

/** How long a task was worked on, in milliseconds: since its claim, without its holder's waits for answers. */
export function workedOn(
  task: Held & {
    readonly startedAt?: Moment | undefined;
    readonly completedAt?: Moment | undefined;
  },
  requests: Iterable<Asked>,
  now: number,
): number {
  if (task.startedAt === undefined) return 0;
  const end = task.completedAt === undefined ? now : timeOf(task.completedAt);
  return workIn([timeOf(task.startedAt), end], asksAbout(task, requests), task.assigneeId ?? '');
}

/** Since when the holder of a task waits for an answer about it; undefined if it does not wait. */
export function waitsSince(task: Held, requests: Iterable<Asked>): number | undefined {
  const asked = asksAbout(task, requests).filter(
    ({ kind, memberId }) => memberId === task.assigneeId && kind !== 'shutdown',
  );
  const isApproved = asked.some(({ kind, status }) => kind === 'plan' && status === 'approved');
  const open = asked.filter(({ kind, status }) => status === 'pending' && !(kind === 'plan' && isApproved));
  return open.length === 0 ? undefined : Math.min(...open.map(({ requestedAt }) => timeOf(requestedAt)));
}

/** Requests about a task: a plan names only its member. */
function asksAbout(task: Held, requests: Iterable<Asked>): Asked[] {
  return [...requests].filter(({ kind, taskId }) => kind === 'plan' || taskId === task.id);
}

function timeOf(moment: Moment): number {
  return new Date(moment).getTime();
}
