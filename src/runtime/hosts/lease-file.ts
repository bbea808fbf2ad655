import { readFileSync, rmSync } from 'node:fs';
import { replacePrivateFile } from '../private-file.ts';

/*
 * How long the daemon of a state directory may be away before others run its members. Its members' processes read this.
 * It is a file because it matters when there is no daemon to ask: after a crash, and between two daemons.
 */

/** The lease of the last daemon, in milliseconds; undefined if no machines share its journal. */
export function readLeaseFile(path: string): number | undefined {
  try {
    const leaseMs = Number(readFileSync(path, 'utf8'));
    return leaseMs > 0 ? leaseMs : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the lease, or removes the file if there is none. */
export function writeLeaseFile(path: string, leaseMs: number | undefined): void {
  if (readLeaseFile(path) === leaseMs) return;
  if (leaseMs === undefined) rmSync(path, { force: true });
  else replacePrivateFile(path, `${leaseMs}\n`);
}
