import { SYSTEM } from './actor.ts';
import type { Command } from './command.ts';
import { decide } from './decide.ts';
import { TeamError } from './errors.ts';
import type { TeamEvent } from './event.ts';
import { evolve } from './evolve.ts';
import { isSlug, TaskId } from './fields.ts';
import { JOINED } from './rules/guard.ts';
import { createState } from './state.ts';
import type { TeamState } from './state.ts';
import { settingsIn, withSettings } from './team-work.ts';
import type { TeamWork } from './team-work.ts';
import { quote } from './text.ts';
import { requireTeam } from './view.ts';

/** Why the members of an imported team are stopped. */
const REASON = 'the team was imported from another machine';

/** Where an imported team goes on. */
export interface ImportedTo {
  readonly name: string;
  /** The clone of its repository on this machine. */
  readonly repository?: string | undefined;
  readonly at: number;
}

/** An imported team: its batches, and the state after the last one. */
export interface Imported {
  readonly batches: readonly (readonly TeamEvent[])[];
  readonly state: TeamState;
}

/**
 * Turns the batches of another machine into those of a team here. They get one more batch: nobody works here yet, so
 * every member has stopped and its tasks are free. Hooks are removed, and so are the setup of workspaces and all that answers
 * approved: a person of the other machine did that. The team is joined to none of Claude Code's. Refuses batches that no
 * Troupe would have written.
 */
export function importBatches(given: readonly (readonly TeamEvent[])[], to: ImportedTo): Imported {
  const batches = given.map((events) => events.map((event) => adapt(event, to)));
  const state = createState(to.name);
  for (const event of batches.flat()) evolve(state, event);
  requireSound(state, batches);
  const last = settle(state, to.at);
  return { batches: last.length > 0 ? [...batches, last] : batches, state };
}

function adapt(event: TeamEvent, { name, repository }: ImportedTo): TeamEvent {
  if (event.type === 'request:raised' && event.detail) {
    const { approves: _approves, setup: _setup, ...detail } = event.detail;
    return { ...event, detail };
  }
  if (event.type !== 'team:created' && event.type !== 'team:updated') return event;
  const work = event.work && { work: moveWork(event.work, repository) };
  return event.type === 'team:created' ? { ...event, name, ...work } : { ...event, ...work };
}

function moveWork(work: TeamWork, repository: string | undefined): TeamWork {
  if (repository === undefined) {
    throw new TeamError('invalid', 'The team works on a repository: import it in a clone of that repository');
  }
  // Remotes and roots are about machines that share a journal.
  const { setup: _setup, remote: _remote, ...settings } = settingsIn(work);
  const { roots: _roots, ...moved } = withSettings({ ...work, repository }, settings);
  return moved;
}

/** Names become folders, so each must be one that Troupe gives. */
function requireSound({ team, members, tasks }: TeamState, batches: readonly (readonly TeamEvent[])[]): void {
  const created = batches.flat().filter(({ type }) => type === 'team:created').length;
  if (!team || batches[0]?.[0]?.type !== 'team:created' || created !== 1) {
    throw new TeamError('corrupt', 'The file does not begin with the creation of a team');
  }
  if (team.parent) {
    const { memberId, teamId } = team.parent;
    throw new TeamError('unsupported', `The team works for ${memberId} of team ${teamId}, and cannot be without it`);
  }
  const wrong =
    [...members.keys()].find((id) => !isSlug(id)) ?? [...tasks.keys()].find((id) => !TaskId.safeParse(id).success);
  if (wrong !== undefined) throw new TeamError('corrupt', `The file has a name that no Troupe gives: ${quote(wrong)}`);
}

/** What ends with the move, decided by the rules of each. */
function settle(state: TeamState, at: number): TeamEvent[] {
  const team = requireTeam(state);
  if (team.status === 'cleaned-up') return [];
  const events: TeamEvent[] = [];
  const perform = (command: Command): void => {
    for (const event of decide(state, command)) events.push((evolve(state, event), event));
  };
  for (const hookType of new Set(team.hooks.map(({ type }) => type))) {
    perform({ type: 'hook.remove', by: SYSTEM, at, hookType });
  }
  const joined = JOINED.filter((key) => state.team?.metadata?.[key] !== undefined);
  if (joined.length > 0) {
    const metadata = Object.fromEntries(joined.map((key) => [key, null]));
    perform({ type: 'team.update', by: SYSTEM, at, metadata });
  }
  for (const { id: memberId, status, returning } of state.members.values()) {
    if (status === 'stopped' && !returning) continue;
    perform({ type: 'member.leave', by: SYSTEM, at, memberId, reason: REASON, returning: false });
  }
  return events;
}
