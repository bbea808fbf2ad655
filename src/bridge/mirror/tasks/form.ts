import { z } from 'zod';
import { DESCRIPTION_BYTES, LINE_LENGTH, TITLE_LENGTH } from '../../../core/limits.ts';
import { dependentsOf } from '../../../core/ready.ts';
import type { TaskRecord, TeamState } from '../../../core/state.ts';
import type { SharedTask } from '../../../core/task.ts';
import { byteLength, oneLine, shorten } from '../../../core/text.ts';
import { BRIDGE_MARK } from '../../format.ts';
import type { NativeTask } from '../../format.ts';
import { strangerOf } from '../names.ts';
import type { Naming } from '../names.ts';

/** The fields of a task that both sides know, in native words. */
export interface TaskForm {
  readonly subject: string;
  readonly description: string;
  readonly activeForm: string | undefined;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly owner: string | undefined;
  readonly blockedBy: readonly string[];
}

/**
 * Our stamp in a file: which task of ours it is, at which revision. It is under `metadata`, the only place that
 * survives.
 */
const Stamp = z.looseObject({
  id: z.string(),
  stream: z.string(),
  epoch: z.number().int(),
  revision: z.number().int(),
});
export type Stamp = z.output<typeof Stamp>;

/** The ids of both sides, in both directions. */
export interface Links {
  readonly naming: Naming;
  readonly toTask: Map<string, string>;
  readonly toNative: Map<string, string>;
}

/**
 * Our task in native form. A failed task is shown as held, so that nobody takes it and its dependents stay blocked. A
 * withheld task keeps its unknown owner.
 */
export function formOfTask(state: TeamState, task: TaskRecord, links: Links): TaskForm {
  const stranger = strangerOf(state, task, links.naming);
  return {
    subject: task.title,
    description: task.description,
    activeForm: task.activeForm,
    status: stranger?.begun ? 'in_progress' : shownStatus(task),
    owner: task.assigneeId === undefined ? stranger?.owner : links.naming.nameOf(state, task.assigneeId),
    blockedBy: nativeIds(task.dependencies, links),
  };
}

function shownStatus({ status }: TaskRecord): TaskForm['status'] {
  return status === 'failed' ? 'in_progress' : status === 'deleted' ? 'completed' : status;
}

/** A file within our limits: texts shortened, single lines without control characters. */
export function formOfFile(file: NativeTask): TaskForm {
  const { owner, activeForm } = file;
  return {
    subject: oneLine(file.subject, TITLE_LENGTH) || '(no subject)',
    description: fitting(file.description ?? ''),
    activeForm: activeForm === undefined ? undefined : oneLine(activeForm, LINE_LENGTH),
    status: file.status === 'deleted' ? 'completed' : file.status,
    owner: owner === '' ? undefined : owner,
    blockedBy: file.blockedBy ?? [],
  };
}

/** Our stamp in a file. The stamp of another team or stream does not count. */
export function stampOf(file: NativeTask | undefined, stream: string): Stamp | undefined {
  const stamp = Stamp.safeParse(file?.metadata?.[BRIDGE_MARK]).data;
  return stamp?.stream === stream ? stamp : undefined;
}

/** The revision that a file shows. A file without our stamp shows the task as we adopted it. */
export function revisionIn(file: NativeTask, stream: string): number {
  return stampOf(file, stream)?.revision ?? ADOPTED;
}

/** The revision of a task that was just adopted. */
export const ADOPTED = 1;

/** Everything that a file shows of our task. */
export interface Shown {
  readonly form: TaskForm;
  /** The native ids of the tasks that wait for it. */
  readonly blocks: readonly string[];
  readonly stamp: Stamp;
}

/** What a file should show of a task now. */
export function shownOf(state: TeamState, task: TaskRecord, links: Links, stream: string): Shown {
  return {
    form: formOfTask(state, task, links),
    blocks: nativeIds(dependentsOf(state, task.id), links),
    stamp: newStamp(task, stream),
  };
}

/** The same for a claimed task as callers get it, with its holder's native name. */
export function shownOfClaim(task: SharedTask, owner: string, links: Links, stream: string): Shown {
  const { title: subject, description, activeForm } = task;
  const blockedBy = nativeIds(task.dependencies, links);
  return {
    form: { subject, description, activeForm, status: 'in_progress', owner, blockedBy },
    blocks: nativeIds(task.blocks, links),
    stamp: newStamp(task, stream),
  };
}

function newStamp(task: Pick<SharedTask, 'id' | 'epoch' | 'revision' | 'status'>, stream: string): Stamp {
  const { id, epoch, revision, status } = task;
  // The native side has no failed status: there it stays in progress, so that nobody takes it and nothing behind it
  // opens.
  return { id, stream, epoch, revision, ...(status === 'failed' && { status }) };
}

function nativeIds(ids: readonly string[], { toNative }: Links): string[] {
  return ids.flatMap((id) => toNative.get(id) ?? []);
}

/** The file for our task. Native texts that we only shortened stay as they are. */
export function fileOf({ form, blocks, stamp }: Shown, before?: NativeTask): Omit<NativeTask, 'id'> {
  const had = before && formOfFile(before);
  const kept = (key: 'subject' | 'description' | 'activeForm'): string | undefined =>
    had && had[key] === form[key] ? before[key] : form[key];
  const next: Record<string, unknown> = {
    ...before,
    subject: kept('subject'),
    description: kept('description') ?? '',
    activeForm: kept('activeForm'),
    owner: form.owner,
    status: form.status,
    blocks: union(before?.blocks, blocks),
    blockedBy: union(before?.blockedBy, form.blockedBy),
    metadata: { ...before?.metadata, [BRIDGE_MARK]: stamp },
  };
  for (const key of Object.keys(next)) if (next[key] === undefined) delete next[key];
  return next;
}

/** Whether two forms show the same task; ignores dependencies. */
export function sameForm(a: TaskForm, b: TaskForm): boolean {
  return (
    a.subject === b.subject &&
    a.description === b.description &&
    a.activeForm === b.activeForm &&
    a.status === b.status &&
    a.owner === b.owner
  );
}

/** Whether a file shows our state and nothing that our side does not know. */
export function isInStep(
  state: TeamState,
  task: TaskRecord,
  file: NativeTask,
  { links, stream }: { links: Links; stream: string },
): boolean {
  const form = formOfTask(state, task, links);
  const found = formOfFile(file);
  return (
    revisionIn(file, stream) === task.revision &&
    sameForm(form, found) &&
    dependentsOf(state, task.id).every((id) => isListed(file.blocks, links.toNative.get(id))) &&
    haveSameEdges(task, form, found, links)
  );
}

/** Dependencies are fixed once a task was begun; later ones count when it is free again. */
function haveSameEdges(task: TaskRecord, form: TaskForm, found: TaskForm, { toTask }: Links): boolean {
  const shown = new Set(found.blockedBy);
  if (task.status !== 'pending') return form.blockedBy.every((id) => shown.has(id));
  const edges = new Set(form.blockedBy);
  // An edge to a task that does not exist is theirs and blocks nothing.
  const real = [...shown].filter((id) => toTask.has(id));
  return edges.size === real.length && real.every((id) => edges.has(id));
}

/** A task without a native number need not be listed yet. */
function isListed(list: readonly string[] | undefined, native: string | undefined): boolean {
  return native === undefined || (list ?? []).includes(native);
}

/** Whether a file already has everything that we would write. */
export function isCovered(before: NativeTask, write: NativeTask): boolean {
  const all = (had: readonly string[] | undefined, want: readonly string[] | undefined): boolean =>
    (want ?? []).every((id) => (had ?? []).includes(id));
  return (
    all(before.blocks, write.blocks) &&
    all(before.blockedBy, write.blockedBy) &&
    JSON.stringify(before.metadata) === JSON.stringify(write.metadata)
  );
}

function fitting(text: string): string {
  let fit = text;
  while (byteLength(fit) > DESCRIPTION_BYTES) fit = shorten(fit, Math.floor((fit.length * 9) / 10));
  return fit;
}

function union(a: readonly string[] | undefined, b: readonly string[]): string[] {
  return [...new Set([...(a ?? []), ...b])];
}
