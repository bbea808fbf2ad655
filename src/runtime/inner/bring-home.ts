import { TeamError } from '../../core/errors.ts';
import type { TeamParent } from '../../core/inner.ts';
import { joinSome } from '../../core/text.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { TeamWorks } from '../work/team-works.ts';

/**
 * Lays what a team landed into the folder of the member that it works for, beside whatever changed there meanwhile. The
 * folder is saved and handed in as always. A second time changes nothing. If both changed the same lines, the folder
 * stays as it is, and the team's branch has its work.
 */
export async function bringHome(
  { ledger, works }: { readonly ledger: Ledger; readonly works: TeamWorks },
  { teamId, memberId, taskId }: TeamParent,
  innerId: string,
): Promise<void> {
  const inner = await ledger.view(innerId, ({ team }) => team?.work);
  if (!inner || inner.tip === inner.base) return;
  const { depot } = await works.bring(innerId);
  const workspace = await works.workspaceOf({ teamId, memberId });
  const saved = await workspace.save();
  if (!saved) return;
  const { tree, conflicts } = await depot.merge(inner.tip, saved.commit, { base: inner.base });
  if (conflicts.length > 0) {
    const paths = conflicts.map(({ path }) => path);
    throw new TeamError(
      'conflict',
      `Team ${innerId} is done, but somebody else changed the same lines in the folder of ${memberId}: ${joinSome(paths, ', ')}. Nothing is lost. ` +
        `See its work: troupe diff --team ${innerId}. Take it, and keep the other changes as a save: troupe task reopen ${taskId} --team ${teamId}. Or merge it into your checkout: troupe merge --team ${innerId}`,
    );
  }
  if (tree !== saved.tree) await workspace.lay(tree, saved.base);
}

/** Files that members of a team changed and never handed in, in words: nobody should believe them part of the answer. */
export async function describeUnlanded(
  { ledger, works }: { readonly ledger: Ledger; readonly works: TeamWorks },
  teamId: string,
): Promise<string[]> {
  const apart = await ledger.view(teamId, ({ team, members }) =>
    team?.work ? [...members.values()].filter(({ workspace }) => workspace === 'own').map(({ id }) => id) : [],
  );
  const found: string[] = [];
  for (const memberId of apart) {
    const saved = await (await works.workspaceOf({ teamId, memberId })).save();
    if (!saved || saved.changes.length === 0) continue;
    const isHandedIn = await ledger.view(teamId, ({ tasks }) =>
      [...tasks.values()].some(({ work }) => work?.commit === saved.commit),
    );
    if (isHandedIn) continue;
    const paths = joinSome(
      saved.changes.map(({ path }) => path),
      ', ',
    );
    found.push(`${memberId} changed ${paths} without handing it in with a task`);
  }
  return found;
}
