import { TOMBSTONE } from '../../../src/bridge/lock.ts';
import type { Checks } from '../checks.ts';
import { scheduler } from '../scheduler.ts';
import type { Node } from './file-system.ts';

/** A process that lives holds a lock for milliseconds. Without a sign for this long it is gone, whatever the clock says. */
const SILENT_MS = 6_000;

/** Longer than this our own locks would make the oldest version lose messages. */
const HELD_MS = 250;

/** A daemon is about to remove a directory. Locks are directories: only its own may go, and what a dead process left. */
export function checkRemoval(checks: Checks, path: string, { maker, madeAt }: Node): void {
  const owner = scheduler.owner();
  const age = scheduler.now - madeAt;
  const isLock = path.endsWith('.lock');
  if (!isLock && !TOMBSTONE.test(path)) return;
  if (maker === owner) {
    checks.require(age <= HELD_MS, `The ${owner.name} held ${path} for ${Math.round(age)} ms`);
    return;
  }
  const isStill = !maker.isAlive || maker.isPaused || maker.resumedAt > madeAt;
  checks.require(!isLock, `The ${owner.name} gave back ${path}, which ${maker.name} holds`);
  checks.require(
    age >= SILENT_MS && isStill,
    `The ${owner.name} took ${path} from ${maker.name}, which had it for ${Math.round(age)} ms`,
  );
}
