import { taskLetGo } from '../../src/client/replica.ts';
import type { Batch } from '../../src/client/replica.ts';
import type { TeamEvent } from '../../src/core/event.ts';

interface Known {
  /** How many batches were read. */
  seq: number;
  readonly holders: Map<string, string>;
  /** When each member joined or let go of a task, in order. */
  readonly freed: Map<string, { readonly seq: number; readonly at: number }[]>;
}

const known = new WeakMap<readonly Batch[], Known>();

/**
 * Since when a member has had nothing to do, as of a batch: the end of its last task, or its joining. The state does
 * not say it, because a released task no longer names its holder. The whole history does, and each batch is read once.
 */
export function freeSince(history: readonly Batch[], seq: number, memberId: string): number | undefined {
  return readOn(history)
    .freed.get(memberId)
    ?.findLast((one) => one.seq <= seq)?.at;
}

function readOn(history: readonly Batch[]): Known {
  const here = known.get(history) ?? { seq: 0, holders: new Map(), freed: new Map() };
  known.set(history, here);
  for (; here.seq < history.length; here.seq++) {
    for (const event of history[here.seq]?.events ?? []) {
      // Most events of a long history are about something else.
      if (event.type === 'teammate:joined' || 'taskId' in event) note(here, event, here.seq + 1);
    }
  }
  return here;
}

function note({ holders, freed }: Known, event: TeamEvent, seq: number): void {
  const free = (memberId: string): void => {
    const times = freed.get(memberId) ?? [];
    times.push({ seq, at: event.at });
    freed.set(memberId, times);
  };
  if (event.type === 'teammate:joined') free(event.memberId);
  if (event.type === 'task:claimed') holders.set(event.taskId, event.memberId);
  const taskId = taskLetGo(event);
  if (taskId === undefined) return;
  const holder = holders.get(taskId);
  if (holder !== undefined) free(holder);
  holders.delete(taskId);
}
