import type { Situation } from '../../core/situation.ts';
import { retryCommand } from './words.ts';

/** An open team. */
interface OpenTeam {
  readonly name: string;
  readonly situation: Situation;
  /** None of its members runs: a person brings them back. */
  readonly isAtRest?: boolean;
}

/** What is known about the place in which somebody typed `troupe` alone. */
export interface Whereabouts {
  /** A daemon answers. Without one, nothing is known about teams. */
  readonly daemon: boolean;
  /** The process of a daemon that runs and does not answer. */
  readonly silent?: number;
  /** A daemon ran here before. */
  readonly hasState: boolean;
  /** Whether an agent is on the PATH. */
  readonly hasAgent: boolean;
  /** The team file in the working directory. */
  readonly teamFile?: string;
  /** Open teams of the working directory, the latest first: those that a command which names none may be about. */
  readonly here: readonly OpenTeam[];
  /** All other open teams. */
  readonly others: readonly OpenTeam[];
  /** The latest closed team of the team file. */
  readonly closed?: string;
  /** Without a daemon: teams whose members it had not ended when it was killed. */
  readonly interrupted: readonly string[];
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
  const { daemon, silent, hasState, here, others, interrupted, unmerged } = where;
  const isAsked = [...here, ...others].some(({ situation }) => situation.kind === 'needs-you');
  const [first] = here;
  const retry = first && retryCommand(first.situation, first.name);
  const steps: (Step | false | undefined)[] = [
    silent !== undefined && { command: 'troupe doctor', why: 'find out what is wrong with it' },
    interrupted.length > 0 && {
      command: 'troupe status',
      why: `start the daemon again: it takes up ${nameTeams(interrupted)} where it was`,
    },
    isAsked && { command: 'troupe approve', why: 'answer what waits for you' },
    retry !== undefined && { command: retry, why: 'try the failed task again' },
    here.length + others.length > 0 && { command: 'troupe ps', why: 'who runs, and what each does' },
    first && { command: `troupe watch ${first.name}`, why: 'follow it live; troupe ui opens the dashboard' },
    ...unmerged.slice(0, 2).map(({ team, size, elsewhere = 'your checkout' }) => ({
      command: `troupe merge --team ${team}`,
      why: `bring ${size} into ${elsewhere}; troupe diff --team ${team} shows them`,
    })),
    !daemon &&
      silent === undefined &&
      hasState &&
      interrupted.length === 0 && { command: 'troupe status', why: 'start the daemon and show its teams' },
    ...fileSteps(where),
    ...(first ? [] : startSteps(where)),
  ];
  return { state: describe(where), steps: steps.filter((step) => step !== false && step !== undefined) };
}

/** What one can do with the team file of the folder, while no member of its team runs. */
function fileSteps({ daemon, hasState, teamFile, here, closed, unmerged }: Whereabouts): Step[] {
  if (teamFile === undefined || !here.every(({ isAtRest }) => isAtRest)) return [];
  const [first] = here;
  if (first) return [{ command: 'troupe up', why: `bring the members of ${first.name} back` }];
  if (closed === undefined) {
    // Without a daemon, nobody knows whether its team was closed. `troupe up` refuses then.
    const unless = !daemon && hasState ? '; if that team was closed, it says how to start it over' : '';
    return [{ command: 'troupe up', why: `run the team of ${teamFile}${unless}` }];
  }
  const report = { command: `troupe report ${closed}`, why: `what team ${closed} did, which is closed` };
  // To start it over deletes it. Nobody should be led to that before its work is merged.
  if (unmerged.some(({ team }) => team === closed)) return [report];
  const why = `delete team ${closed} and run the team of ${teamFile} from the beginning`;
  return [report, { command: 'troupe up --again', why }];
}

/** How one gets a team in a folder that has none. */
function startSteps({ daemon, hasState, hasAgent, teamFile }: Whereabouts): (Step | false)[] {
  const isNew = !daemon && !hasState;
  if (!hasAgent) {
    return [
      teamFile === undefined && {
        command: 'troupe init script && troupe up',
        why: 'try a team of small programs: it needs no agent',
      },
      { command: 'troupe agents', why: 'which agents there are, and how to install one: none is on the PATH' },
      isNew && { command: 'troupe doctor', why: 'check what is installed here' },
    ];
  }
  return [
    { command: 'troupe run "GOAL"', why: 'let an agent lead a team on this folder' },
    teamFile === undefined && { command: 'troupe init', why: 'write a team file for this folder' },
    isNew && { command: 'troupe doctor', why: 'check what is installed here' },
  ];
}

function describe({ daemon, silent, hasState, here, others, interrupted }: Whereabouts): string[] {
  if (silent !== undefined) return [`A daemon runs (process ${silent}), but it does not answer.`];
  if (interrupted.length > 0) {
    return [`No daemon runs, and ${nameTeams(interrupted)} did not end: the daemon was killed or crashed.`];
  }
  if (!daemon && hasState) return ['No daemon runs.'];
  const named = here.slice(0, NAMED).map(({ name, situation }) => `Team ${name}: ${situation.text}`);
  const more = here.length > NAMED ? [`And ${here.length - NAMED} more here.`] : [];
  if (others.length === 0) return named.length > 0 ? [...named, ...more] : ['No team runs.'];
  const listed = others.map(({ name, situation }) => `${name} (${situation.word})`);
  return [
    ...(named.length > 0 ? [...named, ...more] : ['No team runs in this folder.']),
    `Other teams: ${listSome(listed)}.`,
  ];
}

function nameTeams(names: readonly string[]): string {
  return `${names.length === 1 ? 'team' : 'teams'} ${listSome(names)}`;
}

function listSome(items: readonly string[]): string {
  const more = items.length > NAMED ? ` and ${items.length - NAMED} more` : '';
  return `${items.slice(0, NAMED).join(', ')}${more}`;
}
