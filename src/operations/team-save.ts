import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { explainFileError } from '../core/file-errors.ts';
import { parseTeamFile } from '../runtime/team-file/parse.ts';
import { operation } from './operation.ts';

const FileName = z
  .string()
  .max(255)
  .regex(/^[\w-][\w.-]*\.ya?ml$/, 'must be the name of a .yaml file, without a folder');

export const teamSaveOperations = [
  operation({
    name: 'team.save',
    summary: "Save a team file in a folder of the daemon's machine; a file that is there is replaced only on request",
    scope: 'admin',
    input: z.strictObject({
      source: z.string().describe('the text of the team file'),
      folder: z.string().max(4_096).refine(isAbsolute, 'must be absolute').describe('the folder'),
      name: FileName.default('troupe.yaml').describe('the name of the file'),
      replace: z.boolean().default(false).describe('replace the file that is there'),
    }),
    result: z.object({ path: z.string() }),
    route: 'POST /api/save',
    cli: { args: ['source'], examples: ['troupe team save - --folder "$PWD" < other.yaml'] },
    run: async (_services, { source, folder, name, replace }) => {
      // Nothing else than a team file is ever written.
      parseTeamFile(source, name);
      const path = join(folder, name);
      const there = statSync(path, { throwIfNoEntry: false });
      if (there && !there.isFile()) throw new TeamError('conflict', `${path} is no regular file: choose another name`);
      try {
        await writeFile(path, source, { flag: replace ? 'w' : 'wx' });
      } catch (error) {
        throw explain(error as NodeJS.ErrnoException, { path, folder });
      }
      return { path };
    },
  }),
] as const;

function explain(
  error: NodeJS.ErrnoException,
  { path, folder }: { readonly path: string; readonly folder: string },
): TeamError {
  if (error.code === 'EEXIST') {
    return new TeamError('exists', `${path} exists already`, {
      facts: { option: { field: 'replace', effect: 'replace it' } },
    });
  }
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    return new TeamError('invalid', `${folder} is no folder on this machine: create it first`);
  }
  return explainFileError(error, path, 'write');
}
