import { dirname, resolve } from 'node:path';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { show } from '../show/result.ts';
import { standardScreen } from '../show/screen.ts';
import { clean, fold } from '../show/text.ts';
import { print, toJson, warn } from '../show/write.ts';
import { accompany, exitCode, listenForTeamEnd } from './up/accompany.ts';
import { askToRun } from './up/approval.ts';
import { readSource, TEAM_FILE } from './up/source.ts';
import { summarize } from './up/summary.ts';
import { watchTrouble } from './up/trouble.ts';

type Found = ResultOf<'team.check'>;

interface UpInput {
  readonly file?: string;
  readonly yes?: boolean;
  readonly detach?: boolean;
  readonly keep?: boolean;
  readonly once?: boolean;
  readonly again?: boolean;
  readonly panes?: boolean;
}

/** Starts a team from its file, shows it at work, and stops it when the work is done. */
export async function run(given: Arguments, { environment, screen }: Surroundings): Promise<number> {
  const { file = TEAM_FILE, ...wishes } = given.input as UpInput;
  const { yes = false, detach = false, keep = false, once = false, again = false, panes: wanted = true } = wishes;
  const path = resolve(file);
  const source = readSource(path, file);
  const team = { source, name: file, folder: dirname(path) };
  const ending = listenForTeamEnd();
  const trouble = watchTrouble(environment);
  const client = openClient(environment, { patience: Infinity, onState: trouble.onState });
  try {
    const found = await client.call('team.check', team, { signal: ending.signal });
    const { lacking = [], unrunnable = [] } = found;
    if (lacking.length > 0) warn(lackingNotice(lacking, file, environment));
    // If the team will be refused anyway, nobody is asked to approve anything.
    const isRefused = found.elsewhere?.holds === true || found.broken.length > 0 || unrunnable.length > 0;
    const approve =
      yes || isRefused
        ? []
        : await askToRun(found.unapproved, team, { signal: ending.signal, screen: standardScreen(environment) });
    ending.signal.throwIfAborted();
    const config = await client.call(
      'team.up',
      { ...team, yes, approve, ...(again && { again }) },
      { signal: ending.late, commandId: newCommandId() },
    );
    if (found.elsewhere) warn(describeMove(found, team.folder));
    if (detach) {
      await show('team.up', config, { json: given.json, screen });
      if (!given.json) print(fold(detachedNotice(config.name), screen));
      return 0;
    }
    const outcome = await accompany(client, config, {
      screen,
      json: given.json,
      ending,
      environment,
      trouble,
      panes: wanted,
      keep,
      goesOn: !once,
    });
    if (given.json) print(toJson(outcome, screen.isTerminal ? 2 : undefined));
    else print(summarize(outcome, standardScreen(environment), { goesOn: !once }));
    return exitCode(outcome);
  } finally {
    client.close();
  }
}

/** Says how to follow and close a team that no `troupe up` follows. */
function detachedNotice(teamId: string): string {
  return `\nIt works in the background, and stays open until you close it. See it: troupe watch ${teamId}. Close it: troupe down ${teamId}\n`;
}

/**
 * Warns about missing variables, which are empty for members. If this process has one, the daemon was started without.
 */
function lackingNotice(lacking: readonly string[], file: string, ours: NodeJS.ProcessEnv): string {
  const names = (some: readonly string[]): string => some.map((name) => `\${${name}}`).join(', ');
  const late = lacking.filter((name) => ours[name] !== undefined);
  const next =
    late.length === 0 ? 'If they need it, set it, then' : `${names(late)} was set after the daemon had started:`;
  return `troupe: ${file} takes ${names(lacking)} from the environment of the daemon, where it is not set, so it is empty for the members. ${next} troupe stop, and the same command.\n`;
}

/** The team's folder was moved, or its file removed: it is the same team in another place. */
function describeMove({ team, elsewhere }: Found, folder: string): string {
  return `troupe: team ${clean(team)} was started from ${clean(elsewhere?.folder ?? '')} before, which no longer has it; from now on it belongs to ${clean(folder)}.\n`;
}
