import type { Client } from '../../client/client.ts';
import type { TeamEvent } from '../../core/event.ts';

/** Whom one follows until there is nothing more to come. */
export interface Followed {
  readonly teamId: string;
  readonly memberId?: string;
  readonly signal: AbortSignal;
}

/** Why there is nothing more to come of a team, or of one of its members; undefined while there may be. */
export async function whyOver(
  client: Client,
  { teamId, memberId, signal }: Followed,
): Promise<{ why: string | undefined; seq: number }> {
  const { team, seq } = await client.call('team.status', { teamId }, { signal });
  const member = team.members.find(({ id }) => id === memberId);
  // The daemon knows best how to say that there is none.
  if (memberId !== undefined && !member) await client.call('member.show', { teamId, memberId }, { signal });
  if (team.status === 'cleaned-up') return { why: `Team ${teamId} is closed.`, seq };
  return { why: member?.status === 'stopped' && !member.returning ? hasStopped(member.id) : undefined, seq };
}

/** Waits until the team is closed or the member has stopped for good, and says so. */
export async function untilOver(client: Client, after: number, followed: Followed): Promise<string> {
  const { teamId, memberId, signal } = followed;
  for await (const { events } of client.subscribe(teamId, { after, signal })) {
    // Members stop with their team: that is told of the team.
    if (events.some(({ type }) => type === 'team:closed')) return `Team ${teamId} is closed.`;
    if (memberId !== undefined && events.some((event) => isEnd(event, memberId))) return hasStopped(memberId);
  }
  // Only an interruption ends it without an answer.
  signal.throwIfAborted();
  return `Team ${teamId} is gone.`;
}

function isEnd(event: TeamEvent, memberId: string): boolean {
  return event.type === 'teammate:stopped' && event.memberId === memberId && event.returning !== true;
}

function hasStopped(memberId: string): string {
  return `${memberId} has stopped.`;
}
