import { TeamError } from '../../core/errors.ts';
import type { Saved, Workspace } from '../../workspaces/workspace.ts';

/** How often a folder is tried to be moved on while its member writes. */
const MOVES = 20;

/** Moves a folder on from a save of it. Its member may write meanwhile: then from the next save. Returns the save. */
export async function unlessEdited(
  workspace: Workspace,
  move: (saved: Saved) => Promise<Pick<Saved, 'commit'> | undefined>,
): Promise<Saved | undefined> {
  for (let i = 0; i < MOVES; i++) {
    const saved = await workspace.save();
    if (!saved || (await move(saved))?.commit === saved.commit) return saved;
  }
  throw new TeamError('conflict', `The files of ${workspace.name.member} change all the time: its folder stays`);
}
