import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from '../git.ts';

// Git leaves a half-written pack where it was when it fails or is killed. On a full disk each try would take more of the
// little that is left, and nothing would give it back before the next daemon starts.

/** What runs in a depot now, and whether something there has failed since nothing ran. */
interface Depot {
  running: number;
  isLittered: boolean;
}

const depots = new Map<string, Depot>();

/** Half-written packs. Not what somebody pushes: that is in a folder of its own until it is whole. */
const DRAFT = /^tmp_(?:pack|idx|rev)_/;

/** The same git, which removes half-written packs from a depot after a command there failed. */
export function removingDrafts(git: Git, dir: string): Git {
  return {
    ...git,
    async run(place, ...rest) {
      if (place.dir !== dir) return git.run(place, ...rest);
      const depot = depots.get(dir) ?? { running: 0, isLittered: false };
      depots.set(dir, depot);
      depot.running++;
      try {
        return await git.run(place, ...rest);
      } catch (error) {
        depot.isLittered = true;
        throw error;
      } finally {
        depot.running--;
        if (depot.running === 0) {
          depots.delete(dir);
          if (depot.isLittered) removeDrafts(join(dir, 'objects', 'pack'));
        }
      }
    },
  };
}

/** At once, so that no command of ours begins meanwhile. */
function removeDrafts(folder: string): void {
  try {
    for (const name of readdirSync(folder)) if (DRAFT.test(name)) rmSync(join(folder, name), { force: true });
  } catch {
    // The depot is gone, or cannot be written: the next daemon looks again.
  }
}
