import { SYSTEM } from '../../core/actor.ts';
import { shortId } from '../../core/commit-id.ts';
import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import { joinSome, quote } from '../../core/text.ts';
import { requireMember, requireTeam } from '../../core/view.ts';
import type { TaskWork } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Depot } from '../../workspaces/depot.ts';
import type { Save } from '../../workspaces/workspace.ts';
import type { TeamPlace } from './team-places.ts';
import type { TeamWorks } from './team-works.ts';

/** A save of a member's workspace, and how it differs from its base. */
export interface SaveReport {
  readonly memberId: string;
  readonly commit: string;
  readonly base: string;
  readonly at: number;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** The task that it belongs to, if the journal tells. */
  readonly taskId?: string;
}

/** What a restore did. */
export interface Restored {
  readonly memberId: string;
  readonly folder: string;
  /** The save that the folder is at now. */
  readonly commit: string;
  /** The save of what was in the folder before; the base if that had no changes. */
  readonly before: string;
  /** The task that the member goes on with; without one, its next claim puts these files away again. */
  readonly taskId?: string;
}

/** The workspaces of a team. */
export interface Parts {
  readonly ledger: Ledger;
  readonly works: TeamWorks;
}

/** Lists the saves of a team's workspaces, or of one member's, newest first. */
export async function listWorkSaves(
  { ledger, works }: Parts,
  { teamId, memberId, limit }: { teamId: string; memberId?: string | undefined; limit: number },
): Promise<SaveReport[]> {
  const place = await requireWorkPlace({ ledger, works }, teamId);
  const tasks = await ledger.view(teamId, (state) => {
    if (memberId !== undefined) requireMember(state, memberId);
    return tasksOf(state);
  });
  const found: (Save & { memberId: string; taskId: string | undefined })[] = [];
  for (const name of await membersWithWork(place, teamId)) {
    if (memberId !== undefined && name !== memberId) continue;
    const saves = await (await works.workspaceOf({ teamId, memberId: name })).saves(limit);
    const own = tasks.filter(({ work }) => work.memberId === name);
    found.push(...nameTasks(saves, own).map((save) => ({ ...save, memberId: name })));
  }
  const newest = found.sort((a, b) => b.at - a.at).slice(0, limit);
  return measureAll(place.depot, newest);
}

/**
 * Brings the workspace of a member back to a save, after a save of what is in it. While the member is in a turn its
 * agent reads and writes these files, so that is refused.
 */
export async function restoreWork(
  { ledger, works }: Parts,
  { teamId, memberId, save }: { teamId: string; memberId?: string | undefined; save: string },
): Promise<Restored> {
  const place = await requireWorkPlace({ ledger, works }, teamId);
  const found = await findSave({ works, place }, { teamId, memberId, save });
  // Who is in a turn is told at once.
  await ledger.view(teamId, (state) => requireAtRest(state, found.memberId));
  return works.alone({ teamId, memberId: found.memberId }, () => restoreFound({ ledger, works }, place, found));
}

async function restoreFound(
  { ledger, works }: Parts,
  place: TeamPlace,
  found: { readonly teamId: string; readonly memberId: string; readonly commit: string },
): Promise<Restored> {
  const { teamId } = found;
  const workspace = await works.workspaceOf({ teamId, memberId: found.memberId });
  const tasks = await ledger.view(teamId, (state) => {
    requireAtRest(state, found.memberId);
    return tasksOf(state).filter(({ work }) => work.memberId === found.memberId && isUnfinished(work));
  });
  const before = await workspace.restore(found.commit);
  // The saves begin again from an older base, so that what landed since is not undone.
  const after = await workspace.save();
  const held = tasks.find(({ holder }) => holder === found.memberId);
  if (held && after && held.work.base !== after.base) {
    const { taskId, epoch } = held;
    const begun = {
      type: 'work.begin',
      by: SYSTEM,
      taskId,
      memberId: found.memberId,
      epoch,
      base: after.base,
    } as const;
    await ledger.execute(teamId, begun, () => undefined);
  }
  const next = held ?? tasks.find(({ work, isOpen }) => isOpen && work.base === after?.base);
  return {
    memberId: found.memberId,
    folder: folderInWorkspace(workspace.folder, place.work),
    commit: found.commit,
    before: before?.commit ?? found.commit,
    ...(next && { taskId: next.taskId }),
  };
}

/** While a member is in a turn, its agent reads and writes the files of its workspace. */
export function requireAtRest(state: TeamState, memberId: string): void {
  const { status } = requireMember(state, memberId);
  if (status === 'idle' || status === 'stopped') return;
  throw new TeamError(
    'conflict',
    `${memberId} is in a turn, and its agent works with these files: wait until it is idle, or stop it with troupe member stop ${memberId} --team ${state.teamId}`,
  );
}

/** Finds a save by the beginning of its id. */
async function findSave(
  { works, place }: { works: TeamWorks; place: TeamPlace },
  { teamId, memberId, save }: { teamId: string; memberId: string | undefined; save: string },
): Promise<{ readonly teamId: string; readonly memberId: string; readonly commit: string }> {
  const found = new Map<string, string>();
  for (const name of await membersWithWork(place, teamId)) {
    if (memberId !== undefined && name !== memberId) continue;
    const saves = await (await works.workspaceOf({ teamId, memberId: name })).saves();
    for (const { commit } of saves) if (commit.startsWith(save)) found.set(commit, name);
  }
  const [only] = found;
  if (only && found.size === 1) return { teamId, commit: only[0], memberId: only[1] };
  if (!only) {
    const whose = memberId === undefined ? `Team ${teamId}` : memberId;
    throw new TeamError(
      'not_found',
      `${whose} has no save ${quote(save)}: troupe work saves --team ${teamId} lists them`,
    );
  }
  const ids = joinSome([...found.keys()].map(shortId), ', ');
  throw new TeamError('invalid', `${quote(save)} is the beginning of several saves: ${ids}`);
}

async function requireWorkPlace({ ledger, works }: Parts, teamId: string): Promise<TeamPlace> {
  await ledger.view(teamId, requireTeam);
  const place = await works.placeOf(teamId);
  if (place) return place;
  throw new TeamError('conflict', `The members of team ${teamId} share a folder: nothing is saved there`);
}

async function membersWithWork({ workspaces }: TeamPlace, teamId: string): Promise<string[]> {
  return (await workspaces.list()).flatMap(({ team, member }) => (team === teamId ? member : []));
}

interface Begun {
  readonly taskId: string;
  readonly epoch: number;
  readonly work: TaskWork;
  /** The member whose folder has it now. */
  readonly holder: string | undefined;
  /** Whether somebody may still work on it. */
  readonly isOpen: boolean;
}

function tasksOf({ tasks }: TeamState): Begun[] {
  return [...tasks.values()].flatMap(({ id, epoch, work, status, assigneeId }) =>
    work
      ? [
          {
            taskId: id,
            epoch,
            work,
            holder: status === 'in_progress' && work.aside === undefined ? assigneeId : undefined,
            isOpen: status === 'in_progress' || status === 'pending',
          },
        ]
      : [],
  );
}

/** Whether its holder may still change it. */
function isUnfinished({ state }: TaskWork): boolean {
  return state === 'begun' || state === 'conflicted';
}

/**
 * Finds the task of each save of a member. The save that was handed in names it, and the ones before it with the same
 * base are of the same task. Later ones are of what the member works on now.
 */
function nameTasks(saves: readonly Save[], tasks: readonly Begun[]): (Save & { taskId: string | undefined })[] {
  let current: Begun | undefined;
  return saves.map((save) => {
    const handedIn = tasks.find(({ work }) => work.commit === save.commit);
    if (handedIn) current = handedIn;
    else if (current?.work.base !== save.base) {
      current = tasks.find(({ work }) => isUnfinished(work) && work.base === save.base);
    }
    return { ...save, taskId: current?.taskId };
  });
}

/** More git processes at once would only wait for each other. */
const AT_ONCE = 4;

async function measureAll(
  depot: Depot,
  saves: readonly (Save & { memberId: string; taskId: string | undefined })[],
): Promise<SaveReport[]> {
  const reports: SaveReport[] = [];
  for (let i = 0; i < saves.length; i += AT_ONCE) {
    const some = saves.slice(i, i + AT_ONCE).map(async ({ memberId, taskId, commit, base, at }) => {
      const { files, added, deleted } = await depot.diff(base, commit, { maxBytes: 0 });
      const size = { files: files.length, added, removed: deleted };
      return { memberId, commit, base, at, ...size, ...(taskId !== undefined && { taskId }) };
    });
    reports.push(...(await Promise.all(some)));
  }
  return reports;
}
