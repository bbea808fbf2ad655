import { SYSTEM } from '../actor.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import type { TeamState } from '../state.ts';
import { requireActor, requireOpenTeam } from './guard.ts';

/** Landed work is gone with the repository that had it: the branch goes on from what is left of it. */
export function loseWork(state: TeamState, command: CommandOf<'work.lose'>): TeamEvent[] {
  const { work } = requireOpenTeam(state);
  const { by, from, to, works, why } = command;
  requireActor(state, by);
  if (by !== SYSTEM) throw new TeamError('not_allowed', `${by} may not give work up: only Troupe itself may`);
  // Somebody else said so already, or the branch went on meanwhile.
  if (work?.tip !== from || from === to) return [];
  return [event(command, 'work:lost', { from, to, works, why })];
}
