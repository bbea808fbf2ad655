import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { BRIDGE_MARK } from './format.ts';
import { isThere, readNow } from './json-file.ts';
import type { NativePaths } from './layout.ts';

/** A message of ours, whoever it is from. */
const Ours = z.looseObject({ via: z.literal(BRIDGE_MARK) });

/** What whoever writes to a native team that has ended hears. */
export function nativeGone(paths: NativePaths): TeamError {
  return new TeamError('not_found', `${paths.config} is gone: the native team has ended`);
}

/**
 * Removes what we wrote into the directory of a team while its lead took that away: it then has no config any more, and nothing but messages
 * of ours. The program would find a team there that it cannot read.
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
    // It is taken away or made again at this moment: then there is nothing to remove, or it is looked at again.
  }
}

function holdsOnlyOurs(inbox: string): boolean {
  const reading = readNow(inbox);
  return reading.kind === 'read' && z.array(Ours).safeParse(reading.value).success;
}

function namesIn(folder: string): string[] {
  return isThere(folder) ? readdirSync(folder) : [];
}
