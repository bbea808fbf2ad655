import type { Client } from '../../client/client.ts';
import type { TeamEvent } from '../../core/event.ts';

/** A team or a member that a command follows to its end. */
export interface Followed {
  readonly teamId: string;
  readonly memberId?: string;
  readonly signal: AbortSignal;
}

/** Why nothing more will come from a team or a member; undefined while something may. */
export async function whyOver(
  client: Client,
  { teamId, memberId, signal }: Followed,
): Promise<{ why: string | undefined; seq: number }> {
  const { team, seq } = await client.call('team.status', { teamId }, { signal });
  const member = team.members.find(({ id }) => id === memberId);
  // The daemon has the best message for an unknown member.
  if (memberId !== undefined && !member) await client.call('member.show', { teamId, memberId }, { signal });
  if (team.status === 'cleaned-up') return { why: `Team ${teamId} is closed.`, seq };
  return { why: member?.status === 'stopped' && !member.returning ? hasStopped(member.id) : undefined, seq };
}

/** Waits until the team is closed or the member has stopped for good, and returns a message about it. */
export async function untilOver(client: Client, after: number, followed: Followed): Promise<string> {
  const { teamId, memberId, signal } = followed;
  for await (const { events } of client.subscribe(teamId, { after, signal })) {
    // Members stop when their team closes; then the message is about the team.
    if (events.some(({ type }) => type === 'team:closed')) return `Team ${teamId} is closed.`;
    if (memberId !== undefined && events.some((event) => isEnd(event, memberId))) return hasStopped(memberId);
  }
  // Only an interruption or the deletion of the team ends the loop without an answer.
  signal.throwIfAborted();
  return `Team ${teamId} is gone.`;
}

function isEnd(event: TeamEvent, memberId: string): boolean {
  return event.type === 'teammate:stopped' && event.memberId === memberId && event.returning !== true;
}

function hasStopped(memberId: string): string {
  return `${memberId} has stopped.`;
}
