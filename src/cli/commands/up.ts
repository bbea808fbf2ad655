import { dirname, resolve } from 'node:path';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { describeUnmerged } from '../reach/team-work.ts';
import { Refusal } from '../show/errors.ts';
import { reportEnd } from '../show/report.ts';
import { show } from '../show/result.ts';
import { standardScreen } from '../show/screen.ts';
import { clean, fold } from '../show/text.ts';
import { print, toJson, warn } from '../show/write.ts';
import { accompany, exitCode, listenForTeamEnd } from './up/accompany.ts';
import { askToRun } from './up/approval.ts';
import { checkTeam } from './up/environment.ts';
import { readSource, TEAM_FILE } from './up/source.ts';
import { summarize } from './up/summary.ts';
import { watchTrouble } from './up/trouble.ts';
import { behindNotice, leftOutNotice, uncommittedNotice, workspacesLine } from './up/workspaces.ts';

type Found = ResultOf<'team.check'>;
type Raised = ResultOf<'team.up'>;

interface UpInput {
  readonly file?: string;
  readonly yes?: boolean;
  readonly detach?: boolean;
  readonly keep?: boolean;
  readonly once?: boolean;
  readonly again?: boolean;
  readonly panes?: boolean;
  readonly withChanges?: boolean;
}

/** Starts a team from its file, shows it at work, and stops it when the work is done. */
export async function run(given: Arguments, { environment, screen }: Surroundings): Promise<number> {
  const { file = TEAM_FILE, ...wishes } = given.input as UpInput;
  const { yes = false, detach = false, keep = false, once = false, again = false, panes: wanted = true } = wishes;
  const { withChanges = false } = wishes;
  const path = resolve(file);
  const source = readSource(path, file);
  const team = { source, name: file, folder: dirname(path) };
  const ending = listenForTeamEnd();
  const trouble = watchTrouble(environment);
  const client = openClient(environment, { patience: Infinity, onState: trouble.onState });
  try {
    const { found, given: ours } = await checkTeam(client, team, { environment, signal: ending.signal });
    const { unrunnable = [], variables } = found;
    const lacking = variables?.isShared === false ? variables.named.filter((name) => ours[name] === undefined) : [];
    if (lacking.length > 0) warn(fold(lackingNotice(lacking, file), screen));
    // If the team will be refused anyway, nobody is told more, or asked to approve anything.
    const isBegun = found.standing !== undefined && (found.standing === 'open') === again;
    const { refused } = found.work ?? {};
    if (!isBegun && !yes && !withChanges && refused !== undefined) throw new Refusal('conflict', refused);
    const unseen = isBegun || withChanges ? '' : uncommittedNotice(found);
    if (unseen !== '') warn(fold(unseen, screen));
    const isRefused = isBegun || found.elsewhere?.holds === true || found.broken.length > 0 || unrunnable.length > 0;
    const approve =
      yes || isRefused
        ? []
        : await askToRun(found.unapproved, team, { signal: ending.signal, screen: standardScreen(environment) });
    ending.signal.throwIfAborted();
    const unmerged = again
      ? await describeUnmerged(client, { teamId: found.team, isDeleted: true }, { environment, signal: ending.signal })
      : '';
    const config = await client.call(
      'team.up',
      { ...team, yes, approve, environment: ours, ...(again && { again }), ...(withChanges && { withChanges }) },
      { signal: ending.late, commandId: newCommandId() },
    );
    // The closed team is gone now; its work is kept.
    if (unmerged !== '') warn(fold(unmerged, screen));
    if (config.outdated) warn(fold(outdatedNotice(config.name, config.outdated), screen));
    if (config.leftOut) warn(fold(leftOutNotice(config.leftOut), screen));
    const behind = behindNotice(found);
    if (behind !== '') warn(fold(behind, screen));
    if (found.elsewhere) warn(fold(describeMove(found, team.folder), screen));
    if (found.exposed && found.exposed.length > 0) warn(fold(exposedNotice(found.exposed), screen));
    for (const line of [...(found.budgets ?? []), ...(found.kept ?? [])]) {
      warn(fold(`troupe: ${clean(line)}\n`, screen));
    }
    const where = given.json ? '' : fold(workspacesLine(config, found, environment), screen);
    if (detach) {
      await show('team.up', config, { json: given.json, screen });
      if (!given.json) print(`${fold(detachedNotice(config), screen)}${where}`);
      return 0;
    }
    print(where);
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
    else {
      const shown = standardScreen(environment);
      const report = await client.call('team.report', { teamId: config.name });
      print(`${summarize(outcome, shown, { goesOn: !once })}${reportEnd(report, shown)}`);
    }
    return exitCode(outcome);
  } finally {
    client.close();
  }
}

/** Says how to follow and close a team that no `troupe up` follows. */
function detachedNotice({ name, members }: Raised): string {
  const works = members.some(({ agent }) => agent !== undefined)
    ? 'It works in the background, and stays open until you close it.'
    : `It has no members that work, and stays open until you close it. Add one: troupe member spawn NAME --team ${clean(name)}.`;
  return `\n${works} See it: troupe watch ${clean(name)}. Close it: troupe down ${clean(name)}\n`;
}

/** Warns about variables that are empty for members. */
function lackingNotice(lacking: readonly string[], file: string): string {
  const names = lacking.map((name) => `\${${name}}`).join(', ');
  const [are, them] = lacking.length > 1 ? ['They are', 'them'] : ['It is', 'it'];
  return `troupe: ${clean(file)} takes ${names} from your environment. ${are} not set there, so empty for the members. To change that, stop the team, set ${them} and run the same command again.\n`;
}

/** Warns about members that ask nothing and are kept from nothing. */
function exposedNotice(names: readonly string[]): string {
  return `troupe: ${names.map(clean).join(', ')} may do everything as you, without asking (mode: full). To keep that inside of a workspace, add sandbox: true to the team file.\n`;
}

/** A process keeps the environment that it was started with. */
function outdatedNotice(teamId: string, { members, variables }: NonNullable<Raised['outdated']>): string {
  const restart = `troupe member restart NAME --team ${clean(teamId)}`;
  return `troupe: ${members.map(clean).join(', ')} already ran and keep an earlier environment; your ${variables.map(clean).join(', ')} ${variables.length > 1 ? 'differ' : 'differs'}. To restart a member with yours: ${restart}\n`;
}

/** The team's folder was moved, or its file removed: it is the same team in another place. */
function describeMove({ team, elsewhere }: Found, folder: string): string {
  return `troupe: team ${clean(team)} was started from ${clean(elsewhere?.folder ?? '')} before, which no longer has it; from now on it belongs to ${clean(folder)}.\n`;
}
