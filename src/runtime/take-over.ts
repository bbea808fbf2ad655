import { endMarked } from '../agents/process.ts';
import type { MemberProcesses } from './member-processes.ts';
import type { ProcessRecord, ProcessRecords } from './process-records.ts';

/** What is needed to handle the processes of an earlier daemon. */
export interface TakeOverOptions {
  readonly records: ProcessRecords;
  readonly processes: MemberProcesses;
  /** Whether a member is live and belongs to this daemon. */
  readonly isWanted: (teamId: string, memberId: string) => Promise<boolean>;
  /** The process of a wanted member is gone. */
  readonly died: (who: { teamId: string; memberId: string }, how: string) => Promise<void>;
  readonly onError: (error: unknown, about: { teamId?: string; memberId?: string }) => void;
}

/**
 * Handles the processes of an earlier daemon: adopts those that live and are wanted, then ends the others to the last
 * descendant. In this order, so that a member whose process lives does not count as dead because of an older record.
 */
export async function takeOver({ records, processes, isWanted, died, onError }: TakeOverOptions): Promise<void> {
  const rest = await Promise.all(records.list().map(async (record) => ((await adopt(record)) ? [] : record)));
  await Promise.all(
    rest.flat().map((record) => clear(record).catch((error: unknown) => onError(error, { teamId: record.teamId }))),
  );
  // They have no record, so nobody could find them later.
  await Promise.all(records.strays().map((id) => endMarked(id)));

  /** Whether nothing more is to be done: it is adopted, or its team cannot be read now and it is left alone. */
  async function adopt(record: ProcessRecord): Promise<boolean> {
    const { teamId, memberId } = record;
    if (memberId === undefined) return false;
    try {
      if (!(await isWanted(teamId, memberId)) || processes.has(teamId, memberId)) return false;
      return processes.adopt({ ...record, memberId });
    } catch (error) {
      onError(error, { teamId, memberId });
      return true;
    }
  }

  async function clear(record: ProcessRecord): Promise<void> {
    const { teamId, memberId, id } = record;
    if (memberId === undefined) {
      // Nobody waits any more for the verdict of a hook that outlived its daemon.
      await endMarked(id);
      records.remove(id);
      return;
    }
    const said = await processes.clear(record);
    if (processes.has(teamId, memberId) || !(await isWanted(teamId, memberId))) return;
    await died({ teamId, memberId }, `its process was gone when the daemon came back${said && `: ${said}`}`);
  }
}
