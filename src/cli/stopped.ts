import type { Client } from '../client/client.ts';
import type { ResultOf } from '../operations/index.ts';
import { clean } from './text.ts';

type Member = ResultOf<'member.list'>[number];

/** Whether all whom Troupe runs in a team have stopped and none comes back by itself: the team rests until somebody says. */
export function isAtRest(members: readonly Pick<Member, 'agent' | 'status' | 'returning'>[]): boolean {
  const run = members.filter(({ agent }) => agent !== undefined);
  return run.length > 0 && run.every(({ status, returning }) => status === 'stopped' && returning !== true);
}

/** Whoever has more of them looks at one: troupe team status. */
const TEAMS_ASKED = 50;

/** The members of open teams, by team: who looks at all of them wants to know which rest. */
export async function membersOfOpen(
  client: Client,
  teams: ResultOf<'team.list'>,
  signal?: AbortSignal,
): Promise<Map<string, ResultOf<'member.list'>>> {
  const active = teams.filter(({ status, problem }) => status === 'active' && problem === undefined);
  const lists = active.slice(0, TEAMS_ASKED).map(async ({ name }) => {
    // One that is deleted meanwhile is no trouble of those that are there.
    const members = await client.call('member.list', { teamId: name }, { ...(signal && { signal }) }).catch(() => []);
    return [name, members] as const;
  });
  return new Map(await Promise.all(lists));
}

/** How a team that rests goes on, and why it does not. */
export function restLine(team: string, members: readonly Pick<Member, 'stopReason' | 'agent'>[]): string {
  const reasons = new Set(members.flatMap(({ agent, stopReason }) => (agent && stopReason ? [clean(stopReason)] : [])));
  const [why] = reasons;
  const because = reasons.size === 1 ? ` (${why})` : '';
  return `The members of team ${clean(team)} are stopped${because}: troupe up with its team file goes on with it, troupe member restart NAME --team ${clean(team)} with one of them.\n`;
}
