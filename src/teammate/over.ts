import { TeamError } from '../core/errors.ts';
import type { ResultOf } from '../operations/index.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';
import type { Watch } from './watch.ts';

// How a teammate's life ends: its door closes, its team is over, or it is asked to shut down.

interface Who {
  readonly teamId: string;
  readonly memberId: string;
}

/** A door that refuses calls once the member is over. */
export function closingDoor(door: Door, over: AbortSignal): Door {
  return {
    ...door,
    async call(name, input, how) {
      if (over.aborted) throw new TeamError('member_stopped', 'The agent of this member is gone');
      return door.call(name, input, how);
    },
  };
}

/** Whether the team or the membership is over. */
export function isOver(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'team_closed' || code === 'member_stopped';
}

/** The shutdown request that it has not answered yet. */
export async function pendingShutdown(
  door: Door,
  { teamId, memberId }: Who,
): Promise<ResultOf<'request.list'>[number] | undefined> {
  const requests = await door.call('request.list', { teamId, status: 'pending', kind: 'shutdown' });
  return requests.find((request) => request.memberId === memberId);
}

/** Whether something came up that cannot wait for the work. */
export async function isInterrupted(door: Door, who: Who, signal: AbortSignal): Promise<boolean> {
  return signal.aborted || (await pendingShutdown(door, who)) !== undefined;
}

/**
 * Calls back when the team's record says that the member has stopped. Another process may run it from then on, even at
 * once, and the calls of this one would count as the other's.
 */
export function onStopped(watch: Watch, memberId: string, callback: () => void): void {
  watch.onEvent((event) => {
    if (event.type === 'teammate:stopped' && event.memberId === memberId) callback();
  });
}
