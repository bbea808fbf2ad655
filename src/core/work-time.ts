import type { TeamRequest } from './request.ts';
import type { SharedTask } from './task.ts';

/** As it is in memory, or as it comes over the wire. */
type Moment = Date | string;

/** What is to be known of a request to tell how long somebody waited for its answer. */
export interface Asked extends Pick<TeamRequest, 'kind' | 'memberId' | 'taskId' | 'status'> {
  readonly requestedAt: Moment;
  readonly answeredAt?: Moment | undefined;
}

/** A task as far as it matters who works on it. */
type Held = Pick<SharedTask, 'id' | 'assigneeId'>;

/** A stretch of time, in milliseconds since 1970. */
export type Span = readonly [from: number, to: number];

/**
 * How much of a stretch in which a member held a task it did not wait for somebody's answer, in milliseconds. A plan that was
 * withdrawn waits until the next one, and not beyond the stretch in which it was handed in: its member let go of the task.
 * With a plan approved its member works, whatever plans it still hands in. A shutdown keeps nobody from working.
 */
export function workIn([start, end]: Span, requests: Iterable<Asked>, memberId: string): number {
  const asked = [...requests]
    .filter((request) => request.memberId === memberId && request.kind !== 'shutdown')
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

/** How long a task was worked on, in milliseconds: since its claim, without the time in which its holder waited for an answer. */
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

/** Since when the holder of a task waits for an answer about it, and does not work on; undefined where it does not wait. */
export function waitsSince(task: Held, requests: Iterable<Asked>): number | undefined {
  const asked = asksAbout(task, requests).filter(
    ({ kind, memberId }) => memberId === task.assigneeId && kind !== 'shutdown',
  );
  const isApproved = asked.some(({ kind, status }) => kind === 'plan' && status === 'approved');
  const open = asked.filter(({ kind, status }) => status === 'pending' && !(kind === 'plan' && isApproved));
  return open.length === 0 ? undefined : Math.min(...open.map(({ requestedAt }) => timeOf(requestedAt)));
}

/** What is asked about a task: a plan names its member alone. */
function asksAbout(task: Held, requests: Iterable<Asked>): Asked[] {
  return [...requests].filter(({ kind, taskId }) => kind === 'plan' || taskId === task.id);
}

function timeOf(moment: Moment): number {
  return new Date(moment).getTime();
}
