import { explainOwn, hasOwnBlocker, isOwnBlocker, ownBlockers } from './blocked.ts';
import type { OwnBlocker } from './blocked.ts';
import { ClaimConflictError, TeamError } from './errors.ts';
import { filesInTheWay } from './in-the-way.ts';
import { LEAD_GRACE_MS } from './limits.ts';
import { isExpected } from './state.ts';
import type { MemberRecord, TaskRecord, TeamRecord, TeamState } from './state.ts';
import { inOneLine, quote } from './text.ts';

/*
 * The only place that decides whether a task can be claimed, and if not, why. Claims, views, digests and all faces use
 * it. A new reason is a new kind of obstacle; the compiler then asks for its check and its text. A claim without a task
 * picks one by an index (`ready.ts`); a test holds that the index and this file always agree.
 */

/** One reason why a task cannot be claimed now. */
export type Obstacle =
  // Of the task, for any member.
  | { readonly kind: 'ended' }
  | { readonly kind: 'held'; readonly by: string }
  | OwnBlocker
  | { readonly kind: 'dependency'; readonly taskId: string }
  | { readonly kind: 'files'; readonly taskId: string }
  | { readonly kind: 'reserved'; readonly for: string }
  // Of the member, for any task.
  | { readonly kind: 'leaving' }
  | { readonly kind: 'delegating' }
  // Of the team.
  | { readonly kind: 'shutting-down' }
  | { readonly kind: 'unled'; readonly leadId: string };

/** What keeps every member from every task. */
type Halt = Extract<Obstacle, { readonly kind: 'shutting-down' | 'unled' }>;

/** The member that wants to claim a task, and when. */
export interface Taker {
  readonly memberId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

type Members = ReadonlyMap<string, Pick<MemberRecord, 'status' | 'statusSince' | 'returning'>>;

/** All reasons why a member cannot claim a task, or any task; the most important first, none if it can. */
export function obstacles(state: TeamState, taker: Taker, task?: TaskRecord): Obstacle[] {
  const own = state.team ? takerObstacles(state.team, state.members, taker) : [];
  return task ? [...own, ...taskObstacles(state, task, taker.memberId)] : own;
}

/** The reasons why a member cannot claim any task. Also works with the views of a team and its members. */
export function takerObstacles(
  team: Pick<TeamRecord, 'leadId' | 'delegateMode' | 'status'>,
  members: Members,
  { memberId, at }: Taker,
): Obstacle[] {
  const found: Obstacle[] = [];
  if (isDelegating(team, memberId)) found.push({ kind: 'delegating' });
  if (team.status === 'shutting-down') found.push({ kind: 'shutting-down' });
  if (members.get(memberId)?.status === 'shutting-down') found.push({ kind: 'leaving' });
  if (isUnled(team, members, at)) found.push({ kind: 'unled', leadId: team.leadId });
  return found;
}

/** The reasons why this member, or any member, cannot claim a task. */
function taskObstacles(state: TeamState, task: TaskRecord, memberId?: string): Obstacle[] {
  if (task.status === 'in_progress') return [{ kind: 'held', by: task.assigneeId as string }];
  if (task.status !== 'pending') return [{ kind: 'ended' }];
  const found: Obstacle[] = [];
  const { assigneeId } = task;
  if (memberId !== undefined && assigneeId !== undefined && assigneeId !== memberId) {
    found.push({ kind: 'reserved', for: assigneeId });
  }
  const waits = openDependencies(state, task).map((taskId) => ({ kind: 'dependency', taskId }) as const);
  const meets = filesInTheWay(state, task, { memberId });
  const held = meets.map((taskId) => ({ kind: 'files', taskId }) as const);
  return [...found, ...ownBlockers(task), ...waits, ...held];
}

/**
 * Whether nobody can claim a pending task yet. A task that only waits for files can be claimed by a member that holds
 * them all itself.
 */
export function isBlocked(state: TeamState, task: TaskRecord): boolean {
  return waits(state, task) || filesInTheWay(state, task).length > 0;
}

/** Whether a pending task waits for anything but files. */
export function waits(state: TeamState, task: TaskRecord): boolean {
  return hasOwnBlocker(task) || waitsOf(state, task.id) > 0;
}

/** A change that may end the last blocker of a task. */
export interface Change {
  /** The task afterwards. */
  readonly after?: TaskRecord;
  /** How many open dependencies it will have fewer. */
  readonly settled?: number;
  /** Tasks that will no longer be in progress. */
  readonly freed?: readonly string[];
}

/** Whether a change ends the last blocker of a task. */
export function endsBlock(state: TeamState, task: TaskRecord, { after = task, settled = 0, freed }: Change): boolean {
  return (
    task.status === 'pending' &&
    isBlocked(state, task) &&
    !hasOwnBlocker(after) &&
    waitsOf(state, task.id) - settled === 0 &&
    filesInTheWay(state, after, { freed }).length === 0
  );
}

/** The dependencies that a task still waits for. */
export function openDependencies(state: TeamState, task: TaskRecord): string[] {
  return task.dependencies.filter((id) => isOpen(task, state.tasks.get(id)));
}

/** Whether `dependent` still waits for this dependency. It does not wait for a removed one. */
export function isOpen(dependent: TaskRecord, dependency: TaskRecord | undefined): boolean {
  switch (dependency?.status) {
    case undefined:
    case 'completed':
    case 'deleted':
      return false;
    case 'failed':
      return dependent.onDependencyFailure !== 'proceed';
    default:
      return true;
  }
}

/** How many open dependencies a task has. */
export function waitsOf(state: TeamState, taskId: string): number {
  return state.index.waits.get(taskId) ?? 0;
}

/** A lead in delegate mode only coordinates. */
export function isDelegating(
  { delegateMode, leadId }: Pick<TeamRecord, 'delegateMode' | 'leadId'>,
  memberId: string,
): boolean {
  return delegateMode && memberId === leadId;
}

/** Without a lead nobody sees results or answers, so after a while no new work starts. */
function isUnled({ leadId }: Pick<TeamRecord, 'leadId'>, members: Members, at: number): boolean {
  const lead = members.get(leadId);
  return lead?.status === 'stopped' && !isExpected(lead) && at - lead.statusSince.getTime() >= LEAD_GRACE_MS;
}

/** Why a pending task waits, as text that follows its name; undefined if it does not wait. In full, for a view. */
export function explainBlocked(state: TeamState, task: TaskRecord): string | undefined {
  if (task.status !== 'pending') return undefined;
  const own = ownBlockers(task);
  // What it would wait for afterwards does not matter yet.
  const [first] = own;
  if (first && first.kind !== 'unjudged') return explainOwn(first);
  const describe = (ids: readonly string[]): string[] => ids.map((id) => describeTask(state, id));
  const tasks = describe(openDependencies(state, task));
  const files = describe(filesInTheWay(state, task));
  if (own.length === 0 && tasks.length > 0) tasks[0] = `waits for ${tasks[0]}`;
  if (files.length > 0) files[0] = `changes the same files as ${files[0]}`;
  return [...own.map(explainOwn), ...tasks, ...files].join(', ') || undefined;
}

/**
 * Why there is nothing to claim for a member that has no obstacle of its own, by how many tasks there are of each
 * status; undefined if no task is open. A pending task is then reserved for another member.
 */
export function explainNothing(counts: Readonly<Record<string, number>>): string | undefined {
  const { pending = 0, blocked = 0, in_progress: held = 0 } = counts;
  const parts = [
    [pending, 'reserved for others'],
    [blocked, 'blocked'],
    [held, 'in progress'],
  ] as const;
  const open = parts.filter(([count]) => count > 0);
  return open.length === 0 ? undefined : open.map(([count, what]) => `${count} ${what}`).join(', ');
}

/** The error for a member that cannot claim a task, or any task. */
export function refuseClaim(state: TeamState, memberId: string, obstacle: Obstacle, task?: TaskRecord): TeamError {
  const { teamId } = state;
  const id = task?.id ?? '';
  if (isOwnBlocker(obstacle)) return refuseBlocked(state, task);
  switch (obstacle.kind) {
    case 'ended':
      return new ClaimConflictError(`Cannot claim ${describeTask(state, id)}: take another one`);
    case 'held':
      return new ClaimConflictError(
        obstacle.by === memberId
          ? `${memberId} already holds task ${id}: continue it`
          : `Cannot claim ${describeTask(state, id)}: take another one`,
      );
    case 'reserved':
      return new ClaimConflictError(`Task ${id} is reserved for ${obstacle.for}: take another one`);
    case 'dependency':
    case 'files':
      return refuseBlocked(state, task);
    case 'delegating':
      return new TeamError(
        'not_allowed',
        `In delegate mode the lead does no work itself: give the task to a teammate, not to ${memberId}`,
      );
    case 'leaving':
      return new TeamError('conflict', `${memberId} agreed to shut down: it takes no new work`);
    case 'shutting-down':
    case 'unled':
      return new TeamError('conflict', explainHalt(teamId, obstacle));
  }
}

function refuseBlocked(state: TeamState, task: TaskRecord | undefined): TeamError {
  return new TeamError('blocked', `Task ${task?.id} ${task && explainBlocked(state, task)}`);
}

/** Why nobody in a team claims tasks. */
export function explainHalt(teamId: string, obstacle: Halt): string {
  if (obstacle.kind === 'shutting-down') return `Team ${teamId} is shutting down: members take no new work`;
  return `${obstacle.leadId}, the lead of team ${teamId}, has stopped: nobody can claim tasks until the team has another lead (troupe team update ${teamId} --lead NAME)`;
}

export function isHalt(obstacle: Obstacle): obstacle is Halt {
  return obstacle.kind === 'shutting-down' || obstacle.kind === 'unled';
}

/** A short description of a task, for messages: `task 3 (in progress, held by tests)`. */
export function describeTask(state: TeamState, id: string): string {
  const task = state.tasks.get(id);
  if (!task) return `task ${id} (unknown)`;
  if (task.status === 'in_progress') return `task ${id} (in progress, held by ${task.assigneeId})`;
  if (task.status === 'pending' && isBlocked(state, task)) return `task ${id} (blocked)`;
  if (task.status === 'failed') return `task ${id} (failed: ${quote(inOneLine(task.failure ?? ''))})`;
  return `task ${id} (${task.status})`;
}
