import type { TaskRecord, TeamState } from './state.ts';
import { firstLine } from './text.ts';
import type { EndedLanding, TaskWork } from './work.ts';

/* Apart from `work.ts`, because the dashboard and the command line load this, and need no schemas. */

/** The place of a task's work in the merge queue; the first is 1, and 0 means that it does not wait. */
export function placeOf({ team }: TeamState, { id, work }: Pick<TaskRecord, 'id' | 'work'>): number {
  return work?.state === 'submitted' ? (team?.work?.queue?.indexOf(id) ?? -1) + 1 : 0;
}

/** Whether the gates judge the work of a task for its landing now. */
export function isLanding({ team }: TeamState, taskId: string): boolean {
  return team?.work?.landing?.works.some((work) => work.taskId === taskId) ?? false;
}

/** Who is asked about a task's work before it lands, and since when; a person if no member is named. */
export function approverNow(
  { requests, index }: TeamState,
  { id, work }: Pick<TaskRecord, 'id' | 'work'>,
): TaskWork['waitsFor'] {
  if (work?.state !== 'asked') return undefined;
  for (const one of index.asked.get(id) ?? []) {
    const request = requests.get(one);
    if (request?.kind === 'work') return { since: request.requestedAt.getTime() };
    if (request?.kind === 'review') return { since: request.requestedAt.getTime(), memberId: request.memberId };
  }
  return undefined;
}

/** A work that the gates accepted, and that waits for its approval outside the queue. */
export interface AskedEntry extends Pick<QueueEntry, 'taskId' | 'title' | 'memberId' | 'commit'> {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** The member that reviews it; a person if there is none. */
  readonly reviewerId?: string;
  /** Since when somebody is asked: milliseconds since 1970. */
  readonly since: number;
}

/** A work in the merge queue. */
export interface QueueEntry {
  readonly taskId: string;
  readonly title: string;
  readonly memberId: string;
  readonly epoch: number;
  readonly commit: string;
  /** The first is 1. */
  readonly place: number;
  /** When it was first handed in: milliseconds since 1970. */
  readonly since: number;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** Whether the gates judge it for its landing now. */
  readonly isLanding: boolean;
  /** Whether its holder has stopped since. */
  readonly hasLeft: boolean;
}

/** A work that was in the queue and went back to its holder. */
export interface SentBack {
  readonly taskId: string;
  readonly title: string;
  readonly memberId: string;
  /** The first line of what it was told. */
  readonly why: string;
  /** The files that conflict; none if a gate rejected it. */
  readonly conflicts: readonly string[];
  /** When the task last changed: milliseconds since 1970. */
  readonly at: number;
}

/** The merge queue of a team. */
export interface QueueView {
  readonly entries: readonly QueueEntry[];
  /** Since when the landing that is under way is judged. */
  readonly landingSince?: number;
  /** The last landing, if it brought nothing onto the branch and one of its tasks is still open. */
  readonly ended?: EndedLanding;
  /** What waits for its approval outside the queue, the oldest first. */
  readonly asked: readonly AskedEntry[];
  /** What holders do again, the newest first. */
  readonly sentBack: readonly SentBack[];
}

/** The merge queue as faces show it, and what went back. */
export function viewQueue(state: TeamState): QueueView {
  const { queue = [], landing, ended } = state.team?.work ?? {};
  return {
    entries: queue.flatMap((id) => entryOf(state, state.tasks.get(id)) ?? []),
    ...(landing && { landingSince: landing.since }),
    ...(ended && isOfInterest(state, ended) && { ended }),
    asked: [...state.tasks.values()].flatMap((task) => askedOf(state, task) ?? []).sort((a, b) => a.since - b.since),
    sentBack: [...state.tasks.values()].flatMap((task) => sentBackOf(task) ?? []).sort((a, b) => b.at - a.at),
  };
}

/** Nobody does what was rejected again if its tasks are over, such as one that was completed without changes. */
function isOfInterest({ tasks }: TeamState, ended: EndedLanding): boolean {
  return ended.tasks.some((id) => {
    const status = tasks.get(id)?.status;
    return status === 'pending' || status === 'in_progress';
  });
}

function entryOf(state: TeamState, task: TaskRecord | undefined): QueueEntry | undefined {
  const { work } = task ?? {};
  if (!task || work?.state !== 'submitted') return undefined;
  const { memberId, epoch, commit = '', queuedAt = 0, files = 0, added = 0, removed = 0, left = false } = work;
  const { id: taskId, title } = task;
  return {
    taskId,
    title,
    memberId,
    epoch,
    commit,
    place: placeOf(state, task),
    since: queuedAt,
    files,
    added,
    removed,
    isLanding: isLanding(state, taskId),
    hasLeft: left,
  };
}

function askedOf(state: TeamState, task: TaskRecord): AskedEntry | undefined {
  const waitsFor = approverNow(state, task);
  if (!waitsFor || !task.work) return undefined;
  const { memberId, commit = '', files = 0, added = 0, removed = 0 } = task.work;
  const { memberId: reviewerId, since } = waitsFor;
  const about = { taskId: task.id, title: task.title, memberId, commit, files, added, removed, since };
  return { ...about, ...(reviewerId !== undefined && { reviewerId }) };
}

function sentBackOf({ id: taskId, title, status, work, feedback, updatedAt }: TaskRecord): SentBack | undefined {
  if (!work || status !== 'in_progress' || !wentBack(work) || feedback === undefined) return undefined;
  const { memberId, conflicts = [] } = work;
  const why = firstLine(feedback);
  return {
    taskId,
    title,
    memberId,
    why,
    conflicts: work.state === 'conflicted' ? conflicts : [],
    at: updatedAt.getTime(),
  };
}

/** It was in the queue, and its holder works on it again. */
function wentBack({ state, queuedAt }: TaskWork): boolean {
  return queuedAt !== undefined && (state === 'begun' || state === 'conflicted');
}

/** What a work that was handed in waits for, in a few words: `landing now`, `waits to land, place 2`, `waits for eyes`. */
export function wordLanding({
  place,
  isLanding,
  waitsFor,
}: Pick<TaskWork, 'place' | 'isLanding' | 'waitsFor'>): string {
  if (waitsFor) return wordApprover(waitsFor.memberId);
  if (isLanding) return 'landing now';
  return place === undefined ? 'waits to land' : `waits to land, place ${place}`;
}

/** Who has to approve a work: the reviewer, or a person. */
export function wordApprover(reviewerId: string | undefined): string {
  return reviewerId === undefined ? 'waits for a person to approve it' : `waits for the review of ${reviewerId}`;
}

/** Whether the work of a task is handed in and waits to land, in the queue or for its approval. */
export function waitsToLand({ work }: { readonly work?: Pick<TaskWork, 'state'> | undefined }): boolean {
  return work?.state === 'submitted' || work?.state === 'asked';
}
