import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessOptions } from '../agents/process.ts';
import { TeamError } from '../core/errors.ts';
import { folderOfMember } from '../core/folder.ts';
import type { Variables } from '../core/variables.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { teamFolder } from './home.ts';
import type { LaunchMember } from './member-processes.ts';
import { replacePrivateFile } from './private-file.ts';
import { teammateArguments } from './teammate-command.ts';

/** What starting the processes of members needs. */
export interface LaunchSettings {
  readonly ledger: Ledger;
  readonly home: { readonly directory: string; readonly processes: string; readonly folders: string };
  readonly environment: Variables;
  /** The environment of a team's members and gates; without it, `environment`. */
  readonly environmentOf?: (teamId: string) => Variables;
  /** The command of a teammate's process, without its arguments. */
  readonly teammateCommand: readonly [string, ...string[]];
  readonly memberToken: (teamId: string, memberId: string, scope: 'member' | 'lead') => Promise<string>;
}

type MemberToLaunch = Parameters<LaunchMember>[0];

/** Writes the credential of a member's process to its own file, and returns the path. */
export async function giveToken(
  { ledger, home, memberToken }: LaunchSettings,
  { teamId, memberId, processId }: MemberToLaunch,
): Promise<string> {
  const isLead = await ledger.view(teamId, ({ team }) => team?.leadId === memberId);
  const path = join(home.processes, `${processId}.token`);
  const token = await memberToken(teamId, memberId, isLead ? 'lead' : 'member');
  if (readText(path) !== token) replacePrivateFile(path, token);
  return path;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** How a member's process is started: this program again, as a teammate, with a credential in its own file. */
export async function launchOptions(
  options: LaunchSettings,
  member: MemberToLaunch,
): Promise<Omit<ProcessOptions, 'marker'>> {
  const { ledger, home, environment, environmentOf = () => environment, teammateCommand } = options;
  const { teamId, memberId, processId } = member;
  mkdirSync(home.processes, { recursive: true, mode: 0o700 });
  const own = teamFolder(home, teamId);
  const { named, isApart } = await ledger.view(teamId, ({ members }) => {
    const one = members.get(memberId);
    return { named: folderOfMember(one, own) ?? own, isApart: one?.workspace === 'own' };
  });
  // A member with a workspace only starts in this folder, which may be on another machine.
  const cwd = isApart && !existsSync(named) ? own : named;
  const tokenFile = await giveToken(options, member);
  if (cwd === own) mkdirSync(own, { recursive: true, mode: 0o700 });
  if (!existsSync(cwd)) throw new TeamError('invalid', `its folder ${cwd} does not exist`);
  const env = Object.fromEntries(
    Object.entries(environmentOf(teamId)).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return {
    command: [...teammateCommand, ...teammateArguments({ teamId, memberId, directory: home.directory })],
    cwd,
    env: { ...env, TROUPE_TOKEN_FILE: tokenFile },
    log: join(home.processes, `${processId}.log`),
  };
}
