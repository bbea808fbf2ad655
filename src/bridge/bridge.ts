import { TeamError } from '../core/errors.ts';
import { quote } from '../core/text.ts';
import { findLeftovers, moveToTrash } from './leftovers.ts';
import type { Leftover } from './leftovers.ts';
import { openSight } from './sight.ts';
import type { Sight } from './sight.ts';

/** What the bridge needs of the process it runs in. */
export interface BridgeOptions {
  /** Claude Code's own directory. */
  readonly root: string;
  /** Where what is cleaned up goes. */
  readonly trash: string;
  readonly onError: (error: unknown) => void;
}

/** Claude Code's own teams: seen, cleaned up. Nothing is looked at before somebody asks. */
export interface Bridge {
  readonly root: string;
  /** Native teams as they are; looking begins with the first call. */
  sight(): Sight;
  /** What may have been left behind, with the evidence. */
  leftovers(quiet?: number): Leftover[];
  /** Moves what was left behind of these teams to the trash; says where. */
  clean(names: readonly string[], quiet?: number): { name: string; folder: string }[];
  close(): void;
}

/** Opens the bridge. */
export function openBridge({ root, trash, onError }: BridgeOptions): Bridge {
  let sight: Sight | undefined;
  const open = (): Sight => (sight ??= openSight(root, { onError }));
  const leftovers = (quiet?: number): Leftover[] =>
    findLeftovers(open().list(), { now: Date.now(), ...(quiet !== undefined && { quiet }) });
  return {
    root,
    sight: open,
    leftovers,
    clean(names, quiet) {
      const known = new Map(leftovers(quiet).map((one) => [one.name, one]));
      const wanted = names.map((name) => {
        const found = known.get(name);
        if (found) return found;
        throw new TeamError('not_found', `There is no native team ${quote(name)} in ${root}: nothing was moved`);
      });
      const living = wanted.find(({ dead }) => !dead);
      if (living) {
        throw new TeamError(
          'conflict',
          `The native team ${quote(living.name)} is not left behind, so nothing was moved: ${living.evidence.join('; ')}`,
        );
      }
      const moved = wanted.map((one) => ({ name: one.name, folder: moveToTrash(root, one, trash) }));
      open().list();
      return moved;
    },
    close() {
      sight?.close();
    },
  };
}
