import { shortId } from '../../core/commit-id.ts';
import { TeamError } from '../../core/errors.ts';
import { quote } from '../../core/text.ts';
import { requireTask, requireTeam } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Diff, DiffOptions } from '../../workspaces/depot/diff.ts';
import { handedInOf, membersApart, tasksOf } from './report.ts';
import type { TaskReport } from './report.ts';
import type { TeamPlace } from './team-places.ts';
import type { TeamWorks } from './team-works.ts';

/** Two commits to compare, and what they are. */
export interface Compared {
  readonly from: string;
  readonly to: string;
  readonly title: string;
}

/** What a task, a member or (by default) the whole team changed. */
export async function diffWork(
  ledger: Ledger,
  works: TeamWorks,
  { teamId, of, ...options }: DiffOptions & { readonly teamId: string; readonly of?: string | undefined },
): Promise<Diff & Compared> {
  const place = await placeToCompare(ledger, works, teamId);
  const sides = await sidesOf(ledger, works, { place, teamId, of });
  return { ...(await place.depot.diff(sides.from, sides.to, options)), ...sides };
}

/** The project of a team whose members work apart; the others have nothing to compare. */
export async function placeToCompare(ledger: Ledger, works: TeamWorks, teamId: string): Promise<TeamPlace> {
  const place = await works.placeOf(teamId);
  await ledger.view(teamId, requireTeam);
  if (place) return works.bring(teamId);
  throw new TeamError('conflict', `The members of team ${teamId} share a folder: use git diff there`);
}

/** What is compared for a task, a member or the whole team. The folder of a member is saved first. */
export async function sidesOf(
  ledger: Ledger,
  works: TeamWorks,
  { place, teamId, of }: { place: TeamPlace; teamId: string; of: string | undefined },
): Promise<Compared> {
  const { work } = place;
  if (of === undefined) return { from: work.base, to: work.tip, title: `${work.branch} since ${shortId(work.base)}` };
  const { members, tasks, task } = await ledger.view(teamId, (state) => ({
    members: membersApart(state).map(({ memberId }) => memberId),
    tasks: tasksOf(state),
    task: /^\d+$/.test(of) ? requireTask(state, of, { deleted: true }) : undefined,
  }));
  if (task) {
    const { work: done } = task;
    if (!done) throw new TeamError('not_found', `Nobody has worked on task ${of} in a workspace yet`);
    const name = `task ${of}`;
    // What waits for its approval is shown as its holder has it: comments name the lines of that.
    if (done.state !== 'asked' && done.onto !== undefined && done.merged !== undefined) {
      return { from: done.onto, to: done.merged, title: `${name}, as it landed` };
    }
    if (done.commit !== undefined) {
      const how = done.state === 'conflicted' ? 'which conflicts with the branch' : 'as it was handed in';
      return { from: done.base, to: await works.commitOf(teamId, done.commit), title: `${name}, ${how}` };
    }
    return ofMember(works, { teamId, memberId: done.memberId, title: `${name}, which ${done.memberId} works on` });
  }
  if (!members.includes(of)) {
    const names = members.join(', ') || 'none';
    throw new TeamError(
      'not_found',
      `${quote(of)} is neither a task nor a member with a workspace; these are: ${names}`,
    );
  }
  return notHandedIn(works, { teamId, memberId: of, tasks });
}

/** What waits to land, or has landed, is handed in, although the folder still has it. `troupe work` counts the same. */
async function notHandedIn(
  works: TeamWorks,
  { teamId, memberId, tasks }: { teamId: string; memberId: string; tasks: readonly TaskReport[] },
): Promise<Compared> {
  const title = `what ${memberId} has not handed in`;
  const { base, commit, here = commit } = await works.saveOf({ teamId, memberId });
  const handedIn = handedInOf(tasks, memberId, commit);
  if (handedIn === undefined) return { from: base, to: here, title };
  return { from: handedIn === commit ? here : await works.commitOf(teamId, handedIn), to: here, title };
}

async function ofMember(
  works: TeamWorks,
  { teamId, memberId, title }: { teamId: string; memberId: string; title: string },
): Promise<Compared> {
  const { base, commit, here = commit } = await works.saveOf({ teamId, memberId });
  return { from: base, to: here, title };
}
