import type { ResultOf } from '../../operations/index.ts';
import { clean } from './text.ts';

type Member = ResultOf<'member.list'>[number];

/**
 * Whether all members that Troupe runs have stopped and none comes back by itself. Then the team waits for a person.
 */
export function isAtRest(members: readonly Pick<Member, 'agent' | 'status' | 'returning'>[]): boolean {
  const run = members.filter(({ agent }) => agent !== undefined);
  return run.length > 0 && run.every(({ status, returning }) => status === 'stopped' && returning !== true);
}

/**
 * Whether nobody would have work if the team were brought up again: all open tasks failed or depend on failed ones, and
 * no lead is an agent that could act on it.
 */
export function needsReopening(
  { leadId, members }: { leadId: string; members: readonly Pick<Member, 'id' | 'agent'>[] },
  tasks: Readonly<Record<string, number>>,
): boolean {
  const { failed = 0, pending = 0, in_progress: running = 0 } = tasks;
  if (members.some(({ id, agent }) => id === leadId && agent !== undefined)) return false;
  return failed > 0 && pending + running === 0;
}

/** Says why a stopped team does not continue, and how to continue it. */
export function restLine({ team, tasks }: Pick<ResultOf<'team.status'>, 'team' | 'tasks'>): string {
  const { members } = team;
  const name = clean(team.name);
  const reasons = new Set(members.flatMap(({ agent, stopReason }) => (agent && stopReason ? [clean(stopReason)] : [])));
  const [why] = reasons;
  const because = reasons.size === 1 ? ` (${why})` : '';
  const stopped = `The members of team ${name} are stopped${because}`;
  return needsReopening(team, tasks)
    ? `${stopped}, and its open tasks failed or wait for failed ones. To continue: troupe task reopen TASK --team ${name}, then troupe up with its team file.\n`
    : `${stopped}. To continue: troupe up with its team file, or troupe member restart NAME --team ${name} for one member.\n`;
}
