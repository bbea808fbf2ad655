import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { explainFileError } from '../../../core/file-errors.ts';
import { findNearest } from '../../../core/nearest.ts';
import { Refusal } from '../../show/errors.ts';
import { clean } from '../../show/text.ts';

/** The default team file. */
export const TEAM_FILE = 'troupe.yaml';

/** The text of a team file. */
export function readSource(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Refusal('not_found', `There is no team file ${name}${hintFile(path, name)}`);
    if (code === 'EISDIR') {
      throw new Refusal(
        'invalid',
        `${name} is a folder: name the team file in it, as in troupe up ${join(name, TEAM_FILE)}`,
      );
    }
    throw explainFileError(error, name, 'read');
  }
}

/** Suggests the file that was probably meant, from those in the same folder. */
function hintFile(path: string, name: string): string {
  if (name === 'again') return '. To start a closed team over: troupe up --again';
  const folder = dirname(name);
  const there = filesIn(dirname(path));
  if (!there) return `: there is no folder ${folder}`;
  const files = there.filter((file) => /\.ya?ml$/.test(file));
  const meant = findNearest(basename(path), files) ?? files.find((file) => file === TEAM_FILE);
  if (meant === undefined) return '. Make one with: troupe init';
  const words = meant === TEAM_FILE && folder === '.' ? 'troupe up' : `troupe up ${join(folder, meant)}`;
  return `; did you mean ${clean(meant)}? ${clean(words)}`;
}

function filesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}
