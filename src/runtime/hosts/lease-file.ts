import { readFileSync, rmSync } from 'node:fs';
import { replacePrivateFile } from '../private-file.ts';

/*
 * How long the daemon of a state directory may be away before others run its members, for the processes of these. In a
 * file, because it matters when nobody is there to be asked: after a crash, and between two daemons.
 */

/** The lease that the last daemon there had, in milliseconds; undefined where nobody shares its journal. */
export function readLeaseFile(path: string): number | undefined {
  try {
    const leaseMs = Number(readFileSync(path, 'utf8'));
    return leaseMs > 0 ? leaseMs : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the lease down, or that there is none. */
export function writeLeaseFile(path: string, leaseMs: number | undefined): void {
  if (readLeaseFile(path) === leaseMs) return;
  if (leaseMs === undefined) rmSync(path, { force: true });
  else replacePrivateFile(path, `${leaseMs}\n`);
}
