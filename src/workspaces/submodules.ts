import { splitZero } from './git.ts';
import type { Git } from './git.ts';
import { joinZero, toText } from './paths.ts';

/** An index of ours, and its folder. */
interface Indexed {
  readonly git: Git;
  readonly dir: string;
  readonly index: string;
  readonly folder: string;
}

const TAB = 9;

/**
 * Marks the submodules in an index, so that no command looks into their folders, and returns their paths. The tree keeps
 * them as they are.
 */
export async function markSubmodules(indexed: Indexed): Promise<string[]> {
  const { git, dir, index, folder } = indexed;
  const paths = await listSubmodules(indexed);
  if (paths.length > 0) {
    const place = { dir, index, tree: folder };
    await git.run(place, ['update-index', '-z', '--skip-worktree', '--stdin'], { input: joinZero(paths) });
  }
  return paths.map(toText);
}

/** The submodules in an index. */
export async function listSubmodules({ git, dir, index, folder }: Indexed): Promise<Buffer[]> {
  const { out } = await git.run({ dir, index, tree: folder }, ['ls-files', '-z', '--stage']);
  const links = splitZero(out).filter((entry) => entry.subarray(0, 7).toString('latin1') === '160000 ');
  return links.map((entry) => entry.subarray(entry.indexOf(TAB) + 1));
}
