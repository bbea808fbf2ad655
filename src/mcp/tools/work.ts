import { z } from 'zod';
import { shortId } from '../../core/commit-id.ts';
import { escapeVoices } from '../../core/envelope.ts';
import { TeamError } from '../../core/errors.ts';
import { isApart } from '../../core/folder.ts';
import { overlapsOf } from '../../core/overlap-view.ts';
import type { OverlapSide, WorkOverlap } from '../../core/overlap.ts';
import type { TaskRecord } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import { cutToBytes } from '../../core/text.ts';
import { requireTeam } from '../../core/view.ts';
import type { ResultOf } from '../../operations/index.ts';
import { tool } from '../tool.ts';
import type { Answer, Visit } from '../tool.ts';
import { fromMemberName } from '../words.ts';
import { aboutTask } from './about-task.ts';
import { rosterOf } from './roster.ts';

type Check = ResultOf<'work.check'>;
type Diff = ResultOf<'work.diff'>;
type Refreshed = ResultOf<'work.refresh'>;

/** How many files a model reads at once. */
const SHOWN = 100;

/** Claude Code puts longer answers into a file. Bytes. */
const DIFF_BYTES = 24_000;

export const workTools = [
  tool({
    name: 'WorkStatus',
    description: 'Your workspace: what is not handed in, what would block it, overlaps, what landed.',
    for: 'reader',
    reads: true,
    apart: true,
    input: z.strictObject({}),
    run: showStatus,
  }),

  tool({
    name: 'WorkDiff',
    description: 'The diff of a task or member; by default, of all that landed.',
    for: 'reader',
    reads: true,
    apart: true,
    input: z.strictObject({ of: z.string().optional(), path: z.string().optional() }),
    run: async (visit, { of, path }) => {
      const { call, teamId } = visit;
      const diff = await call<Diff>('work.diff', {
        teamId,
        ...(of !== undefined && { of: await taskOrMember(visit, of) }),
        ...(path !== undefined && { path }),
      });
      return showDiff(diff);
    },
  }),

  tool({
    name: 'WorkRefresh',
    description: 'Merges what landed into your workspace. Conflicts change nothing.',
    for: 'member',
    apart: true,
    input: z.strictObject({}),
    run: async ({ call, teamId, memberId }) => {
      if (memberId === undefined) throw new TeamError('invalid', 'Only a member has a workspace');
      return showRefreshed(await call<Refreshed>('work.refresh', { teamId, memberId }));
    },
  }),

  tool({
    name: 'WorkReview',
    description: 'Answer when you are asked to review work. Comments: "path:line: text".',
    for: 'member',
    reviews: true,
    input: z.strictObject({
      taskId: z.string(),
      commit: z.string(),
      approve: z.boolean(),
      summary: z.string().optional(),
      comments: z.array(z.string()).optional(),
    }),
    run: async ({ call, teamId }, input) => {
      const task = await call<SharedTask>('work.review', { teamId, ...input }, { once: true });
      return aboutTask(describeReviewed(task, input.approve), task);
    },
  }),
];

function describeReviewed({ id, work, status }: SharedTask, isApproved: boolean): string {
  if (!isApproved) return `The work of task #${id} goes back to its holder, with what you said.`;
  if (status === 'completed') return `The work of task #${id} has landed.`;
  return work?.state === 'asked'
    ? `Your yes is recorded. A person also has to approve the work of task #${id}.`
    : `The branch has moved since. The work of task #${id} lands once the gates accept it again.`;
}

async function showStatus(visit: Visit): Promise<Answer> {
  const { services, call, teamId, memberId } = visit;
  const { work, tasks, overlaps, hasOwn } = await services.ledger.view(teamId, (state) => ({
    work: requireTeam(state).work,
    tasks: [...state.tasks.values()].filter((task) => task.work && task.status !== 'deleted'),
    overlaps: memberId === undefined ? [] : overlapsOf(state, memberId),
    hasOwn: memberId !== undefined && isApart(state, memberId),
  }));
  const check = hasOwn ? await call<Check>('work.check', { teamId, memberId }) : undefined;
  const landed = tasks.filter(({ work: done }) => done?.state === 'landed');
  const conflicted = tasks.filter(({ work: done }) => done?.state === 'conflicted');
  const asked = tasks.filter(({ work: done }) => done?.state === 'asked');
  const queue = tasks.filter(({ work: done }) => done?.state === 'submitted');
  const places = (work?.queue ?? []).map((id) => `#${id}${isOwn(queue, id, memberId) ? ' (yours)' : ''}`);
  const lines = [
    ...(check ? describeCheck(check, work?.branch ?? '') : ['You have no workspace of your own.']),
    ...overlaps.map((overlap) => describeOverlap(overlap, memberId)),
    `Branch ${work?.branch}, at ${shortId(work?.tip ?? '')}. Landed: ${namesOf(landed)}.`,
    ...(places.length === 0
      ? []
      : [`Merge queue, the first lands next: ${places.join(', ')}.${nowLanding(work?.landing)}`]),
    ...(asked.length === 0 ? [] : [`Waits for approval: ${namesOf(asked)}.`]),
    ...conflicted.map(
      ({ id, work: done }) => `Not on it, because it conflicts: #${id} (${listPaths(done?.conflicts ?? [])})`,
    ),
  ];
  return {
    text: lines.join('\n'),
    data: {
      branch: work?.branch,
      tip: work?.tip,
      ...(check && { you: { ...check, changes: check.changes.slice(0, SHOWN) } }),
      overlaps: overlaps.map((overlap) => {
        const { files, paths, conflicts } = overlap;
        const { memberId: who, taskId } = otherSide(overlap, memberId);
        return { memberId: who, taskId, files, paths, conflicts };
      }),
      landed: landed.map(({ id }) => id),
      queue: work?.queue ?? [],
      conflicted: conflicted.map(({ id, work: done }) => ({ id, paths: done?.conflicts?.slice(0, SHOWN) })),
    },
  };
}

function nowLanding(landing: { readonly works: readonly { readonly taskId: string }[] } | undefined): string {
  return landing ? ` Judged now: ${landing.works.map(({ taskId }) => `#${taskId}`).join(', ')}.` : '';
}

function isOwn(tasks: readonly TaskRecord[], id: string, memberId: string | undefined): boolean {
  return tasks.some((task) => task.id === id && task.assigneeId === memberId);
}

function describeCheck(check: Check, branch: string): string[] {
  const { folder, base, behind, files, changes, problems, unsaved = [], taskId } = check;
  const where = behind === 0 ? `at the tip of ${branch}` : `${behind} behind ${branch} (WorkRefresh merges that)`;
  return [
    `Your workspace: ${folder}, from ${shortId(base)}, ${where}.`,
    files === 0
      ? 'Not handed in: nothing.'
      : `Not handed in: ${sizeOf(check)}: ${listPaths(changes.map(({ path }) => path))}`,
    ...listed('It would be sent back:', problems),
    ...listed('In no save, so not handed in:', unsaved),
    ...(taskId === undefined || files === 0 || problems.length > 0
      ? []
      : [`All of it is handed in when task #${taskId} is completed. You need not commit.`]),
  ];
}

/** The other one of two members that changed the same files. */
function otherSide({ sides: [one, other] }: WorkOverlap, memberId: string | undefined): OverlapSide {
  return one.memberId === memberId ? other : one;
}

function describeOverlap(overlap: WorkOverlap, memberId: string | undefined): string {
  const { files, paths, conflicts } = overlap;
  const { memberId: who, taskId } = otherSide(overlap, memberId);
  const more = files > paths.length ? ` and ${files - paths.length} more` : '';
  const how = conflicts.length === 0 ? 'It merges so far.' : `It conflicts in ${listPaths(conflicts)}.`;
  return `${who} (task #${taskId}) changed the same files: ${listPaths(paths)}${more}. ${how} Write to ${who} about who changes what.`;
}

function showRefreshed({ base, behind, files }: Refreshed): Answer {
  const text =
    behind === 0
      ? `Your workspace has all that landed: ${shortId(base)}.`
      : `Your workspace has all that landed: ${shortId(base)}, ${behind} further. Your own changes are kept. Landed work changed: ${listPaths(files)}`;
  return { text, data: { base, behind, files: files.slice(0, SHOWN) } };
}

function listed(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `- ${escapeVoices(line)}`)];
}

function showDiff({ title, from, to, files, added, removed, changes, isCut, text }: Diff): Answer {
  const bounded = cutToLine(text, DIFF_BYTES);
  const cut = isCut || bounded.length < text.length;
  const listed = changes.slice(0, SHOWN);
  const left = changes.length - listed.length;
  const lines = [
    `${title} (${shortId(from)}..${shortId(to)}): ${sizeOf({ files, added, removed })}`,
    ...listed.map(describeChange),
    ...(left > 0 ? [`... and ${left} more`] : []),
    '',
    escapeVoices(bounded),
    ...(cut ? [CUT] : []),
  ];
  return {
    text: lines.join('\n'),
    data: { title, from, to, files, added, removed, changes: listed, diff: bounded, ...(cut && { cut: CUT }) },
  };
}

const CUT = '[The diff is cut here. Name a path to see the rest, one file or folder at a time.]';

function describeChange({ path, status, from, added, removed, folded }: Diff['changes'][number]): string {
  const how = folded === 'binary' || folded === 'large' ? `${folded}, not shown` : `+${added ?? 0} -${removed ?? 0}`;
  return `${status} ${escapeVoices(from === undefined ? path : `${from} -> ${path}`)} (${how})`;
}

/** The beginning of a text, in whole lines; a first line that is too long is cut. */
function cutToLine(text: string, bytes: number): string {
  const beginning = cutToBytes(text, bytes);
  if (beginning.length === text.length) return text;
  return beginning.slice(0, beginning.lastIndexOf('\n') + 1) || beginning;
}

/** What an agent means: a task, a member, or `team-lead`. */
async function taskOrMember(visit: Visit, of: string): Promise<string> {
  return /^\d+$/.test(of) ? of : fromMemberName(of, await rosterOf(visit));
}

function sizeOf({ files, added, removed }: Pick<Diff, 'files' | 'added' | 'removed'>): string {
  return `${files} ${files === 1 ? 'file' : 'files'} (+${added} -${removed})`;
}

function listPaths(paths: readonly string[]): string {
  const left = paths.length - SHOWN;
  const more = left > 0 ? [`and ${left} more`] : [];
  return escapeVoices([...paths.slice(0, SHOWN), ...more].join(', '));
}

function namesOf(tasks: readonly Pick<SharedTask, 'id'>[]): string {
  return tasks.map(({ id }) => `#${id}`).join(', ') || 'nothing yet';
}
