import { isSlug } from '../core/fields.ts';

/** A member, and the state directory of the daemon that runs it. */
export interface TeammatePlace {
  readonly teamId: string;
  readonly memberId: string;
  readonly directory: string;
}

/** The arguments with which Troupe runs one teammate. */
export function teammateArguments({ teamId, memberId, directory }: TeammatePlace): string[] {
  return ['--teammate', '--team', teamId, '--agent', memberId, '--base-dir', directory];
}

const ARGUMENTS = / --teammate --team (\S+) --agent (\S+) --base-dir /;

/** The member that a command line runs; undefined if it is not that of a teammate. */
export function readTeammateCommand(command: string): Omit<TeammatePlace, 'directory'> | undefined {
  const [, teamId = '', memberId = ''] = ARGUMENTS.exec(command) ?? [];
  return isSlug(teamId) && isSlug(memberId) ? { teamId, memberId } : undefined;
}
