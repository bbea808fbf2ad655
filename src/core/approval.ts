import { fileMatches } from './file-patterns.ts';
import { PATHS_PER_WORK } from './limits.ts';
import { isExpected } from './state.ts';
import type { TaskRecord, TeamState } from './state.ts';
import type { WorkSettings } from './team-work.ts';
import type { HandedInWork, TaskWork } from './work.ts';

/** Who is asked about a work before it lands: the team's reviewer, or a person; `why` says why not the reviewer. */
export type Approver =
  | { readonly kind: 'review'; readonly memberId: string }
  | { readonly kind: 'work'; readonly why?: string };

/** Whether work was handed in and waits: in the queue, or for its approval. */
export function isHandedIn(work: TaskWork | undefined): work is HandedInWork {
  return work?.state === 'submitted' || work?.state === 'asked';
}

/** Who has to approve the work of a task before it lands; undefined if nobody has to, or somebody has. */
export function approverOf({ team, members }: TeamState, { work }: TaskRecord): Approver | undefined {
  if (!team?.work || work?.commit === undefined || work.approved === work.commit) return undefined;
  const { review } = team.work;
  if (review === undefined) return needsPerson(team.work, work) ? { kind: 'work' } : undefined;
  if (review === work.memberId) return { kind: 'work', why: `${review} does not review its own work.` };
  const reviewer = members.get(review);
  if (!reviewer || !isExpected(reviewer)) return { kind: 'work', why: `The reviewer ${review} is not there.` };
  return { kind: 'review', memberId: review };
}

/** Whether a person has to approve a work because of what it changes. If not all of its paths are known, it does. */
export function needsPerson({ approve }: WorkSettings, { files = 0, paths = [] }: TaskWork): boolean {
  if (typeof approve !== 'object') return approve === 'always';
  if (files > paths.length || paths.length >= PATHS_PER_WORK) return true;
  return paths.some((path) => fileMatches(path, approve.paths));
}
