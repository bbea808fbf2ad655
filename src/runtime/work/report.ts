import { isHandedIn } from '../../core/approval.ts';
import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import { overlapsOf } from '../../core/overlap-view.ts';
import type { WorkOverlap } from '../../core/overlap.ts';
import { placeOf, viewQueue } from '../../core/queue-view.ts';
import type { QueueView } from '../../core/queue-view.ts';
import type { TeamState } from '../../core/state.ts';
import { pendingRequests } from '../../core/tables.ts';
import { requireMember, requireTeam } from '../../core/view.ts';
import type { DiskUse } from '../../core/work-disk.ts';
import type { TaskWork } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { branchIn, isMerged } from '../../workspaces/checkout.ts';
import type { DiffFile } from '../../workspaces/depot/diff.ts';
import { isFolder } from '../../workspaces/places.ts';
import type { Workspace } from '../../workspaces/workspace.ts';
import { problemsOf } from './problems.ts';
import type { TeamPlace } from './team-places.ts';
import type { TeamWorks } from './team-works.ts';
import { listUnsaved } from './unsaved.ts';

/** A member and its workspace. */
export interface MemberReport extends WorkerReport {
  /** The last save; undefined if the folder is as its base. */
  readonly save?: string;
  /** The bytes that the folder takes. */
  readonly size: number;
}

/** What a member has not handed in. */
export interface WorkerReport {
  readonly memberId: string;
  readonly folder: string;
  readonly slot: number;
  /** The commit that its folder began from, and by how many landings the branch is further. */
  readonly base: string;
  readonly behind: number;
  /** What it changed and did not hand in. */
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** The task that it works on. */
  readonly taskId?: string;
}

/** A task, and what became of its work. */
export interface TaskReport extends TaskWork {
  readonly taskId: string;
  readonly title: string;
  /** Whether somebody holds the task now. Work that was begun stays with a task that was released. */
  readonly isHeld: boolean;
  /** A person decides about it: no gate could judge it, or gates keep rejecting it. */
  readonly isAsked: boolean;
}

/** Where a team's members work, what landed, and what did not. */
export interface WorkReport {
  /** The checkout on this machine, if it has one. */
  readonly repository?: string;
  /** The branch that is checked out there. */
  readonly into?: string;
  readonly branch: string;
  readonly base: string;
  readonly tip: string;
  /** Whether the checkout on this machine has the tip. */
  readonly isMerged: boolean;
  /** The tasks whose landed work is gone with the repository that had it. */
  readonly lost: string[];
  /** How far the branch is from its base. */
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** The repository that has the branch until a person merges it. */
  readonly depot: string;
  /** The git remote by which work travels to other machines, and why it cannot be used as it should. */
  readonly remote?: { readonly name: string; readonly problem?: string };
  /** What the workspaces take on the disk. */
  readonly disk: DiskUse;
  readonly members: MemberReport[];
  readonly tasks: TaskReport[];
  /** What members that work now have changed alike. */
  readonly overlaps: WorkOverlap[];
  readonly queue: QueueView;
  /** Work that was put away and is on no branch. */
  readonly kept: { readonly memberId: string; readonly commit: string; readonly ref: string; readonly at: number }[];
}

/** Describes the work of a team, or of one member alone; undefined if its members share a folder. */
export async function reportWork(
  ledger: Ledger,
  works: TeamWorks,
  { teamId, memberId: only }: { readonly teamId: string; readonly memberId?: string | undefined },
): Promise<WorkReport | undefined> {
  const isWanted = ({ memberId }: { readonly memberId: string }): boolean => only === undefined || memberId === only;
  const { apart, tasks, overlaps, queue } = await ledger.view(teamId, (state) => {
    requireTeam(state);
    const isListed = (one: { readonly memberId: string }): boolean =>
      isWanted(one) && works.isHere(state, one.memberId);
    return {
      apart: membersApart(state).filter(isListed),
      tasks: tasksOf(state).filter(isWanted),
      overlaps: overlapsOf(state, only),
      queue: viewQueue(state),
    };
  });
  const place = await works.placeOf(teamId);
  if (!place) return undefined;
  // The branch of a closed team may be behind, if a daemon was killed at the wrong moment.
  await works.align(teamId);
  const { depot, work, workspaces, checkout } = place;
  const remote = works.remoteOf(teamId, work);
  const made = new Set((await workspaces.list()).flatMap(({ team, member }) => (team === teamId ? member : [])));
  const members: MemberReport[] = [];
  for (const { memberId, taskId } of apart) {
    if (made.has(memberId)) members.push(await reportMember(works, place, { teamId, memberId, taskId, tasks }));
  }
  const { files, added, deleted } = await depot.diff(work.base, work.tip, { maxBytes: 0 });
  // It may have been moved since it was last used.
  const isThere = !checkout.isAbsent && (await isFolder(checkout.folder));
  const into = isThere ? await branchIn(depot.handle.git, checkout) : undefined;
  const kept = (await depot.kept()).filter(({ team, member }) => team === teamId && isWanted({ memberId: member }));
  return {
    ...(isThere && { repository: checkout.folder }),
    ...(into !== undefined && { into }),
    branch: work.branch,
    base: work.base,
    tip: work.tip,
    isMerged: isThere && (await isMerged(depot.handle.git, checkout, work.tip)),
    lost: lostTasks(work, tasks),
    files: files.length,
    added,
    removed: deleted,
    depot: depot.dir,
    ...(remote && { remote }),
    disk: await works.disk.usage(teamId),
    members,
    tasks,
    overlaps,
    queue,
    kept: kept.map(({ member, commit, ref, at }) => ({ memberId: member, commit, ref, at })),
  };
}

/** A task that was done again has landed in another commit. */
function lostTasks({ lost = [] }: TeamPlace['work'], tasks: readonly TaskReport[]): string[] {
  return tasks.flatMap(({ taskId, merged }) =>
    lost.some((one) => one.taskId === taskId && one.merged === merged) ? taskId : [],
  );
}

async function reportMember(
  works: TeamWorks,
  place: TeamPlace,
  {
    teamId,
    memberId,
    taskId,
    tasks,
  }: { teamId: string; memberId: string; taskId: string | undefined; tasks: readonly TaskReport[] },
): Promise<MemberReport> {
  const workspace = await works.workspaceOf({ teamId, memberId });
  // Also a folder of a member at rest may have changed since its last save: people edit there, too. What cannot be saved
  // now, as on a full disk, must not hide the rest of the report.
  await workspace.save().catch(() => undefined);
  const base = workspace.base ?? place.work.base;
  const [last] = await workspace.saves(1);
  // An older save has been handed in, or was put away.
  const save = last?.base === base ? last.commit : undefined;
  const handedIn = handedInOf(tasks, memberId, save);
  const { changes: _, ...found } = await compareWorker(works, place, { workspace, base, save, taskId, handedIn });
  return { ...found, ...(save !== undefined && { save }), size: await workspace.size() };
}

/** The commit that a member handed in and that waits, or that landed and is all that its folder has. */
export function handedInOf(
  tasks: readonly TaskReport[],
  memberId: string,
  save: string | undefined,
): string | undefined {
  // A folder is brought to the tip at the next claim. Until then it has the work that landed, on the base of before.
  const isIn = (task: TaskReport): boolean =>
    (task.isHeld && isHandedIn(task)) || (task.state === 'landed' && task.commit === save);
  return tasks.find((task) => task.memberId === memberId && isIn(task))?.commit;
}

/** What a member has not handed in now, and what would keep it from handing that in. */
export interface WorkCheck extends WorkerReport {
  readonly changes: readonly DiffFile[];
  /** Each says what is wrong and what to do about it. */
  readonly problems: string[];
  /** What is in the folder and in no save, each with the reason. It is not handed in. */
  readonly unsaved: string[];
}

/** Saves the workspace of a member and looks at what it has not handed in. */
export async function checkWork(
  ledger: Ledger,
  works: TeamWorks,
  { teamId, memberId }: { readonly teamId: string; readonly memberId: string },
): Promise<WorkCheck> {
  const { own, tasks } = await ledger.view(teamId, (state) => {
    requireTeam(state);
    requireMember(state, memberId);
    return { own: membersApart(state).find((one) => one.memberId === memberId), tasks: tasksOf(state) };
  });
  if (!own) throw new TeamError('conflict', `${memberId} has no workspace of its own: use git status in its folder`);
  const place = await works.bring(teamId);
  const workspace = await works.workspaceOf({ teamId, memberId });
  const saved = await workspace.save();
  if (!saved) throw new TeamError('internal', `The workspace of ${memberId} is shared`);
  const problems = await problemsOf(workspace, saved, works.settings);
  const unsaved = listUnsaved(await workspace.unsaved(place.work.base));
  const { base, commit: save } = saved;
  const handedIn = handedInOf(tasks, memberId, save);
  const found = await compareWorker(works, place, { workspace, base, save, taskId: own.taskId, handedIn });
  return { ...found, problems, unsaved };
}

async function compareWorker(
  works: TeamWorks,
  { depot, work }: TeamPlace,
  {
    workspace: { name, folder },
    base,
    save,
    taskId,
    handedIn = base,
  }: {
    workspace: Workspace;
    base: string;
    save: string | undefined;
    taskId: string | undefined;
    /** What waits to land, or has. */
    handedIn?: string | undefined;
  },
): Promise<Omit<WorkCheck, 'problems' | 'unsaved'>> {
  const changed = save === undefined ? undefined : await depot.diff(handedIn, save, { maxBytes: 0 });
  return {
    memberId: name.member,
    folder: folderInWorkspace(folder, work),
    slot: works.slotOf({ teamId: name.team, memberId: name.member }),
    base,
    behind: base === work.tip ? 0 : await countBetween(depot, base, work.tip),
    files: changed?.files.length ?? 0,
    added: changed?.added ?? 0,
    removed: changed?.deleted ?? 0,
    changes: changed?.files ?? [],
    ...(taskId !== undefined && { taskId }),
  };
}

/** How many landings are between two commits of the branch. */
async function countBetween({ handle }: TeamPlace['depot'], base: string, tip: string): Promise<number> {
  const { out } = await handle.run(['rev-list', '--count', '--first-parent', `${base}..${tip}`]);
  return Number(out.toString());
}

export function membersApart({ members, tasks }: TeamState): { memberId: string; taskId: string | undefined }[] {
  const held = [...tasks.values()].filter(({ status, work }) => status === 'in_progress' && work?.aside === undefined);
  return [...members.values()]
    .filter(({ workspace }) => workspace === 'own')
    .map(({ id }) => ({ memberId: id, taskId: held.find(({ assigneeId }) => assigneeId === id)?.id }));
}

/** The tasks that somebody worked on apart, with what became of that. */
export function tasksOf(state: TeamState): TaskReport[] {
  return [...state.tasks.values()].flatMap((task) => {
    const { id: taskId, title, work, status } = task;
    if (!work || status === 'deleted') return [];
    const place = placeOf(state, task);
    const isHeld = status === 'in_progress';
    const isAsked = isHeld && pendingRequests(state, taskId).some(({ kind }) => kind === 'gate');
    return [{ taskId, title, isHeld, isAsked, ...work, ...(place > 0 && { place }) }];
  });
}
