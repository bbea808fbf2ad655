import {
  approverNow,
  filesInTheWay,
  isBlocked,
  isVacant,
  isLanding,
  placeOf,
  teamUsage,
  viewQueue,
  viewTask,
  waitsToLand,
} from '../../src/client/replica.ts';
import type { TeamState } from '../../src/client/replica.ts';
import type { OverlapRecord } from '../../src/core/overlap.ts';
import type { QueueView } from '../../src/core/queue-view.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import type { MemberRecord, TaskRecord } from '../../src/core/state.ts';
import type { SharedTask } from '../../src/core/task.ts';
import type { Usage } from '../../src/core/usage.ts';
import { criticalPath } from './critical-path.ts';
import type { TaskPhase, TaskView } from './task-view.ts';

/** Everything that pages show of a team, computed once per change. */
export interface TeamView {
  readonly state: TeamState;
  readonly team: NonNullable<TeamState['team']> | undefined;
  readonly tasks: readonly TaskView[];
  readonly byId: ReadonlyMap<string, TaskView>;
  /** The task that each member works on, by member id. */
  readonly held: ReadonlyMap<string, SharedTask>;
  /** The lead first, then working members; stopped ones last. */
  readonly members: readonly MemberRecord[];
  readonly pending: readonly TeamRequest[];
  /** What members that work have changed alike. */
  readonly overlaps: readonly OverlapRecord[];
  /** The merge queue, and what went back. */
  readonly queue: QueueView;
  readonly counts: Readonly<Record<TaskPhase, number>>;
  readonly usage: Usage;
  /** The longest chain of open tasks. */
  readonly critical: { readonly ids: ReadonlySet<string>; readonly left: number };
  /** A new object whenever a task or dependency was added or removed: then the graph needs a new layout. */
  readonly structure: object;
}

interface Cached {
  readonly record: TaskRecord;
  readonly waits: number;
  /** The tasks in progress that change its files; of work that waits to land, its place. */
  readonly held: string;
  readonly view: TaskView;
}

const caches = new WeakMap<TeamState, Map<string, Cached>>();

/** Derives a view from a state, and reuses unchanged parts of the last view. */
export function derive(state: TeamState, before: TeamView | undefined): TeamView {
  const pending = [...state.requests.values()].filter(({ status }) => status === 'pending');
  const gated = new Set(pending.flatMap(({ kind, taskId }) => (kind === 'gate' && taskId !== undefined ? taskId : [])));
  const cache = caches.get(state) ?? new Map<string, Cached>();
  caches.set(state, cache);
  const counts = { pending: 0, blocked: 0, in_progress: 0, gate: 0, completed: 0, failed: 0 };
  const tasks: TaskView[] = [];
  let isSameStructure = before !== undefined;
  for (const record of state.tasks.values()) {
    if (record.status === 'deleted') continue;
    const waits = state.index.waits.get(record.id) ?? 0;
    const phase = phaseOf(state, record, gated);
    const cached = cache.get(record.id);
    const held = phase === 'blocked' ? filesInTheWay(state, record).join() : placeWords(state, record);
    const isKnown = cached?.record === record && cached.waits === waits && cached.held === held;
    const isSame = isKnown && cached.view.phase === phase;
    const view = isSame ? cached.view : { id: record.id, task: viewTask(state, record), phase };
    if (!isSame) cache.set(record.id, { record, waits, held, view });
    const old = before?.tasks[tasks.length];
    if (old?.id !== view.id || !haveSame(old.task.dependencies, view.task.dependencies)) isSameStructure = false;
    counts[phase]++;
    tasks.push(view);
  }
  if (before?.tasks.length !== tasks.length) isSameStructure = false;
  const isSameTasks = isSameStructure && before !== undefined && haveSame(before.tasks, tasks);
  const byId = isSameTasks ? before.byId : new Map(tasks.map((view) => [view.id, view]));
  const members = sortMembers(state);
  const overlaps = [...state.overlaps.values()];
  return {
    state,
    team: state.team,
    tasks: isSameTasks ? before.tasks : tasks,
    byId,
    held: isSameTasks ? before.held : heldOf(tasks),
    members: before && haveSame(before.members, members) ? before.members : members,
    pending: before && haveSame(before.pending, pending) ? before.pending : pending,
    overlaps: before && haveSame(before.overlaps, overlaps) ? before.overlaps : overlaps,
    queue: isSameTasks && before.team?.work === state.team?.work ? before.queue : viewQueue(state),
    counts,
    usage: teamUsage(state),
    critical: isSameTasks ? before.critical : criticalPath(byId),
    structure: isSameStructure && before ? before.structure : {},
  };
}

/** Changes whenever the place of a task's work in the merge queue does: its record stays the same. */
function placeWords(state: TeamState, task: TaskRecord): string {
  if (!waitsToLand(task)) return '';
  const { memberId, since } = approverNow(state, task) ?? {};
  return [placeOf(state, task), isLanding(state, task.id), memberId, since].join(' ');
}

function heldOf(tasks: readonly TaskView[]): Map<string, SharedTask> {
  const held = new Map<string, SharedTask>();
  for (const { phase, task } of tasks) {
    if ((phase !== 'in_progress' && phase !== 'gate') || task.assigneeId === undefined) continue;
    if (!held.has(task.assigneeId)) held.set(task.assigneeId, task);
  }
  return held;
}

function phaseOf(state: TeamState, task: TaskRecord, gated: ReadonlySet<string>): TaskPhase {
  if (task.status === 'completed') return 'completed';
  if (task.status === 'failed') return 'failed';
  if (task.status === 'in_progress') return gated.has(task.id) ? 'gate' : 'in_progress';
  return isBlocked(state, task) ? 'blocked' : 'pending';
}

function sortMembers(state: TeamState): MemberRecord[] {
  const rank = ({ id, status }: MemberRecord): number => {
    if (id === state.team?.leadId) return 0;
    return status === 'stopped' ? 2 : 1;
  };
  return [...state.members.values()].filter((member) => !isVacant(member)).sort((a, b) => rank(a) - rank(b));
}

function haveSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a === b || (a.length === b.length && a.every((value, i) => value === b[i]));
}
