import { TeamError } from '../core/errors.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';

// How the life of a teammate ends: its door closes, its team is over, or it is asked to shut down.

interface Who {
  readonly teamId: string;
  readonly memberId: string;
}

/** What happens in its name ends with it. */
export function closingDoor(door: Door, over: AbortSignal): Door {
  return {
    ...door,
    async call(name, input, how) {
      if (over.aborted) throw new TeamError('member_stopped', 'The agent of this member is gone');
      return door.call(name, input, how);
    },
  };
}

/** The team or the membership is over. */
export function isOver(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'team_closed' || code === 'member_stopped';
}

/** The request to shut down that it has not answered yet. */
export async function pendingShutdown(
  door: Door,
  { teamId, memberId }: Who,
): Promise<{ id: string; content: string } | undefined> {
  const requests = await door.call('request.list', { teamId, status: 'pending', kind: 'shutdown' });
  return requests.find((request) => request.memberId === memberId);
}

/** There is something that does not wait until the work goes on. */
export async function isInterrupted(door: Door, who: Who, signal: AbortSignal): Promise<boolean> {
  return signal.aborted || (await pendingShutdown(door, who)) !== undefined;
}
