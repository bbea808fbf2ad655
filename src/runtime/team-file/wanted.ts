import { TeamError } from '../../core/errors.ts';
import { textOf } from '../../core/fields.ts';
import { PROMPT_BYTES } from '../../core/limits.ts';
import { parse } from '../../core/parse.ts';
import { readTeamFile } from './inner.ts';
import type { WholeFile } from './inner.ts';
import type { TeamFile } from './schema.ts';

/** What a caller wants of a team file. */
export interface Wanted {
  readonly source: string;
  readonly name: string;
  readonly folder: string;
  /** The name of the team, in place of the one in the file. */
  readonly team?: string | undefined;
  /** What its lead is told first, after its prompt in the file. */
  readonly goal?: string | undefined;
}

/** A file with the teams inside it, under the wanted name and with the goal. */
export function readWanted(wanted: Wanted, { hostId }: { readonly hostId?: string | undefined }): WholeFile {
  const { source, name, folder } = wanted;
  const { file: read, parts } = readTeamFile(source, name, folder);
  if (parts.length > 1 && hostId !== undefined) throw new TeamError('unsupported', SEVERAL);
  const file = wantedFile(read, wanted);
  const [, ...inner] = parts;
  return { file, parts: [{ file, source, name, folder, home: folder, within: [] }, ...inner] };
}

const SEVERAL =
  'A member cannot be a team while several machines share the journal: that team would need its file and its gates on each of them. ' +
  'Use a daemon with a journal of its own';

/** A file under another name, with a goal for its lead. */
export function wantedFile(file: TeamFile, { team = file.team, goal }: Pick<Wanted, 'team' | 'goal'>): TeamFile {
  if (goal === undefined) return { ...file, team };
  const { lead } = file;
  if (typeof lead !== 'object') {
    throw new TeamError('invalid', `No agent leads team ${team}, so nobody can be told the goal: add it as a task`);
  }
  const prompt = [...(lead.prompt === undefined ? [] : [lead.prompt]), goal].join('\n\n');
  return { ...file, team, lead: { ...lead, prompt: parse(textOf(PROMPT_BYTES), prompt) } };
}
