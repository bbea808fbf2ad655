import type { Ledger } from '../../ledger/ledger.ts';
import { placedRef } from '../../workspaces/depot/merge.ts';
import type { TeamPlace } from './team-places.ts';

/** Puts away the workspaces of a team on this machine, and frees the name of its branch. */
export async function removeWorks(ledger: Ledger, teamId: string, place: TeamPlace): Promise<void> {
  const { depot, workspaces, work } = place;
  // On a machine that never took in the tip, everything that members did is kept.
  const tip = (await depot.has([work.tip])).length > 0 ? work.tip : work.base;
  const landed = await ledger.view(teamId, ({ tasks }) =>
    [...tasks.values()].flatMap(({ work: done }) => (done?.state === 'landed' && done.commit ? [done.commit] : [])),
  );
  for (const name of await workspaces.list()) {
    if (name.team !== teamId) continue;
    const workspace = await workspaces.open(name, { base: tip });
    const { kept } = await workspace.close({ tip, landed });
    // What gates leave in a folder of Troupe's own is nobody's work.
    if (kept && name.member.startsWith('@')) await depot.dropKept(kept.ref);
  }
  // The name is free for another team, and the old branch must not be taken for its own.
  const now = await depot.branch(work.branch);
  if (now === undefined) return;
  const ref = `refs/heads/${work.branch}`;
  const old = `refs/deleted/${teamId}/${Date.now()}`;
  await depot.handle.changeRefs([
    // A branch on which nothing landed is a commit that the user had before.
    ...(now === work.base ? [] : [{ ref: old, to: now }]),
    { ref, to: undefined, from: now },
    { ref: placedRef(work.branch), to: undefined },
  ]);
}
