import type { Situation } from '../../core/situation.ts';

/** What is known about the place in which somebody typed `troupe` alone. */
export interface Whereabouts {
  /** A daemon answers. Without one, nothing is known about teams. */
  readonly daemon: boolean;
  /** A daemon ran here before. */
  readonly hasState: boolean;
  /** The team file in the working directory. */
  readonly teamFile?: string;
  /** Open teams, the latest first. */
  readonly teams: readonly { readonly name: string; readonly situation: Situation }[];
  /** Teams whose branch has work that the checkout does not have; those of this repository first. */
  readonly unmerged: readonly {
    readonly team: string;
    readonly size: string;
    /** The repository, if it is not the one around the working directory. */
    readonly elsewhere?: string;
  }[];
}

/** A command to type next, and why. */
export interface Step {
  readonly command: string;
  readonly why: string;
}

/** How many teams are named; the commands show the others. */
const NAMED = 3;

/** How things are, in a line each, and what one can do next: the most urgent first. */
export function nextSteps(where: Whereabouts): { state: string[]; steps: Step[] } {
  const { daemon, hasState, teamFile, teams, unmerged } = where;
  const named = teams.slice(0, NAMED).map(({ name, situation }) => `Team ${name}: ${situation.text}`);
  const more = teams.length > NAMED ? [`And ${teams.length - NAMED} more.`] : [];
  const isAsked = teams.some(({ situation }) => situation.kind === 'needs-you');
  const isUp = teams.length > 0;
  const steps: (Step | false)[] = [
    isAsked && { command: 'troupe approve', why: 'answer what waits for you' },
    isUp && { command: 'troupe ps', why: 'who runs, and what each does' },
    isUp && { command: `troupe watch ${teams[0]?.name}`, why: 'follow it live; troupe ui opens the dashboard' },
    ...unmerged.slice(0, 2).map(({ team, size, elsewhere = 'your checkout' }) => ({
      command: `troupe merge --team ${team}`,
      why: `bring ${size} into ${elsewhere}; troupe diff --team ${team} shows them`,
    })),
    !daemon && hasState && { command: 'troupe status', why: 'start the daemon and show its teams' },
    teamFile !== undefined && { command: 'troupe up', why: `run the team of ${teamFile}` },
    !isUp && { command: 'troupe run "GOAL"', why: 'let an agent lead a team on this folder' },
    teamFile === undefined && !isUp && { command: 'troupe init', why: 'write a team file for this folder' },
    !daemon && !hasState && { command: 'troupe doctor', why: 'check what is installed here' },
  ];
  const state = isUp ? [...named, ...more] : [daemon || !hasState ? 'No team runs.' : 'No daemon runs.'];
  return { state, steps: steps.filter((step) => step !== false) };
}
