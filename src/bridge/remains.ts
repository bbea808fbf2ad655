import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { BRIDGE_MARK } from './format.ts';
import { isThere, readNow } from './json-file.ts';
import type { NativePaths } from './layout.ts';

/** An entry that we wrote, from any sender. */
const Ours = z.looseObject({ via: z.literal(BRIDGE_MARK) });

/** The error for a write to a native team that has ended. */
export function nativeGone(paths: NativePaths): TeamError {
  return new TeamError('not_found', `${paths.config} is gone: the native team has ended`);
}

/**
 * Removes what we wrote into a team's directory while its lead removed that: it has no config any more, and only
 * messages of ours. Claude Code would find a team there that it cannot read.
 */
export function removeRemains(paths: NativePaths): void {
  if (!isThere(paths.team) || isThere(paths.config)) return;
  try {
    const inboxes = namesIn(paths.inboxes).map((name) => join(paths.inboxes, name));
    const isOurs = namesIn(paths.team).every((name) => name === 'inboxes') && inboxes.every(holdsOnlyOurs);
    if (!isOurs) return;
    for (const inbox of inboxes) unlinkSync(inbox);
    if (isThere(paths.inboxes)) rmdirSync(paths.inboxes);
    rmdirSync(paths.team);
  } catch {
    // Being removed or created right now: nothing is left to remove, or a later pass looks again.
  }
}

function holdsOnlyOurs(inbox: string): boolean {
  const reading = readNow(inbox);
  return reading.kind === 'read' && z.array(Ours).safeParse(reading.value).success;
}

function namesIn(folder: string): string[] {
  return isThere(folder) ? readdirSync(folder) : [];
}
