import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import { isExpected } from '../../core/state.ts';
import type { TeamRecord, TeamState } from '../../core/state.ts';
import { parseTeamFile } from './parse.ts';

/** The place from which a team is started. */
export interface Place {
  readonly folder: string;
  /** The name of its file there; missing if it was never written to disk. */
  readonly file?: string;
  /** The daemon that sees the folder, if several share the journal. */
  readonly host?: string;
}

/** Another place from which the team of that name was started before. */
export interface Elsewhere extends Place {
  /** Whether that place still has the team; true if it cannot be checked. */
  readonly holds: boolean;
}

/** The place as stored with the team. Only an existing file is stored, so that its later absence means something. */
export function placeOf(folder: string, file: string | undefined, host: string | undefined): Place {
  const name = file === undefined ? undefined : basename(file);
  return {
    folder,
    ...(name !== undefined && sizeOf(join(folder, name)) !== undefined && { file: name }),
    ...(host !== undefined && { host }),
  };
}

/** The other place of a team of that name; undefined if there is none, or if it is here. */
export function findElsewhere(team: TeamRecord | undefined, here: Place): Elsewhere | undefined {
  const { folder, file, host } = (team?.metadata ?? {}) as Readonly<Record<string, unknown>>;
  if (!team || typeof folder !== 'string' || !isAbsolute(folder)) return undefined;
  if (realPath(folder) === realPath(here.folder)) return undefined;
  const known = { folder, ...(typeof file === 'string' && { file: basename(file) }) };
  // We cannot check the folders of another machine.
  if (typeof host === 'string' && here.host !== undefined && host !== here.host) return { ...known, host, holds: true };
  return { ...known, holds: holdsTeam(team.name, known) };
}

/**
 * A team belongs to one folder: started from another, its members would do one folder's work in the other. It moves
 * along if its folder was moved or its file is gone, once none of its members can still be working there. Members with
 * workspaces of their own do not work there.
 */
export function requirePlace(state: TeamState, here: Place): Elsewhere | undefined {
  const elsewhere = findElsewhere(state.team, here);
  if (!elsewhere) return undefined;
  if (elsewhere.holds) throw takenError(state, elsewhere, here);
  const members = [...state.members.values()].filter(
    (member) => member.agent !== undefined && member.workspace !== 'own' && isExpected(member),
  );
  const running = members.map(({ id }) => id);
  if (running.length === 0 || state.team?.status === 'cleaned-up') return elsewhere;
  throw new TeamError(
    'conflict',
    `Team ${state.teamId} was started from ${elsewhere.folder}, which no longer has it, and ${running.join(', ')} may still work there: ` +
      `stop them first with troupe member stop NAME --team ${state.teamId}, then run troupe up in ${here.folder}`,
  );
}

function takenError(state: TeamState, { folder, host }: Elsewhere, here: Place): TeamError {
  const name = state.teamId;
  const isOver = state.team?.status === 'cleaned-up';
  const where = host === undefined ? folder : `${folder} on ${host}`;
  const free = isOver ? `troupe team delete ${name}` : `troupe down ${name} and troupe team delete ${name}`;
  return new TeamError(
    'conflict',
    `Team ${name} ${isOver ? 'is closed and ' : ''}belongs to ${where}, not to ${here.folder}: give this one another name (team: in its file), ` +
      `or ${isOver ? 'start that one over with troupe up --again' : 'run troupe up'} in its own folder. To free the name: ${free}`,
  );
}

/** A file that names another team has released this one; an unreadable file has not. */
function holdsTeam(team: string, { folder, file }: Place): boolean {
  if (!isThere(folder)) return false;
  if (file === undefined) return true;
  const path = join(folder, file);
  const size = sizeOf(path);
  if (size === undefined) return false;
  try {
    return size > FILE_BYTES || parseTeamFile(readFileSync(path, 'utf8'), file).team === team;
  } catch {
    return true;
  }
}

/** More than any team file has. */
const FILE_BYTES = 4 * 1024 * 1024;

/** The size of a regular file only: reading a pipe would block. */
function sizeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : undefined;
}

function isThere(folder: string): boolean {
  try {
    return statSync(folder).isDirectory();
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** Resolves links: the same folder may have several paths. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
