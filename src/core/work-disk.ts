import { showBytes } from './bytes.ts';

/** What the workspaces of a team may take on a machine if its file names no limit, in bytes. */
export const DISK_LIMIT = 20 * 1024 ** 3;

/** The share of the limit at which the lead is told. */
const DISK_WARNING = 0.8;

/** What the workspaces of a team take on a machine, and how much they may take. Bytes. */
export interface DiskUse {
  readonly used: number;
  readonly limit: number;
}

/** How near the workspaces are to their limit. */
export function levelOf({ used, limit }: DiskUse): 'fine' | 'near' | 'full' {
  if (used >= limit) return 'full';
  return used >= DISK_WARNING * limit ? 'near' : 'fine';
}

/** Says how much is used, and what follows. */
export function wordDisk(teamId: string, use: DiskUse): string {
  const about = `The workspaces of team ${teamId} take ${showBytes(use.used)}, and may take ${showBytes(use.limit)}`;
  const help =
    'remove what members no longer need, such as build output, or raise limits: { disk } in the team file and run troupe up again';
  if (levelOf(use) === 'full') return `${about}. No new workspace is opened, and nothing is deleted: ${help}.`;
  return `${about}. At the limit no new workspace is opened: ${help}.`;
}
