import { readFile, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { Slug } from '../core/fields.ts';
import { explainFileError } from '../core/file-errors.ts';
import { importBatches } from '../core/imported.ts';
import type { Imported } from '../core/imported.ts';
import { parse } from '../core/parse.ts';
import { isVacant } from '../core/person.ts';
import { quote } from '../core/text.ts';
import { readPackage } from '../runtime/team-package.ts';
import type { TeamPackage } from '../runtime/team-package.ts';
import { operation } from './operation.ts';
import type { Context } from './operation.ts';

/** The largest file that is read; it is held in memory. */
const FILE_BYTES = 512 * 1024 * 1024;

const Path = z.string().min(1).max(4_096).refine(isAbsolute, 'is not a whole path');

export const teamImportOperations = [
  operation({
    name: 'team.import',
    summary: 'Take in a team from a file of another machine, with all its members stopped',
    scope: 'admin',
    long: true,
    input: z.strictObject({
      file: Path.describe('the file, on the machine of the daemon'),
      rename: Slug.optional().describe('another name for the team'),
      repository: Path.optional().describe('the clone of its repository, if its members had workspaces'),
    }),
    result: z.object({
      teamId: Slug,
      batches: z.number().int().describe('how many it has now'),
      isClosed: z.boolean().describe('whether it can only be read'),
      members: z.array(z.string()).describe('all stopped'),
      hooks: z.number().int().describe('how many did not travel'),
      programs: z
        .array(z.object({ memberId: z.string(), command: z.array(z.string()) }))
        .describe('what members run once a person restarts them'),
    }),
    route: 'POST /api/teams/import',
    cli: {
      args: ['file'],
      examples: ['troupe team import /tmp/demo.troupe', 'troupe team import /tmp/demo.troupe --rename demo-2'],
    },
    run: importTeam,
  }),
] as const;

interface Asked {
  readonly file: string;
  readonly rename?: string | undefined;
  readonly repository?: string | undefined;
}

async function importTeam({ ledger }: Context, { file, rename, repository }: Asked) {
  const given = readPackage(await readWhole(file));
  const teamId = rename ?? parse(Slug, given.head.team);
  const imported = importBatches(given.batches, { name: teamId, repository, at: ledger.now() });
  requireSame(given, imported);
  const { team, members } = imported.state;
  await requireFreeBranch(ledger, team?.work?.branch);
  await ledger.restore(teamId, imported.batches);
  const settled = imported.batches.slice(given.batches.length).flat();
  return {
    teamId,
    batches: imported.batches.length,
    isClosed: team?.status === 'cleaned-up',
    members: [...members.values()].filter((member) => !isVacant(member)).map(({ id }) => id),
    hooks: settled.filter(({ type }) => type === 'hook:removed').length,
    programs: [...members.values()].flatMap(({ id, agent }) =>
      agent?.command ? [{ memberId: id, command: [...agent.command] }] : [],
    ),
  };
}

/** Two teams must not land on one branch. */
async function requireFreeBranch(ledger: Context['ledger'], branch: string | undefined): Promise<void> {
  if (branch === undefined) return;
  const found = await ledger.viewAll(({ team }) => (team?.work?.branch === branch ? [team.id] : []), {
    unreadable: () => [],
  });
  const [other] = found.flat();
  if (other === undefined) return;
  throw new TeamError(
    'conflict',
    `Team ${other} lands its work on the branch ${quote(branch)} here, and two teams cannot share a branch. Delete that team first: troupe team delete ${other}. Another name (--rename) does not help: the branch keeps its name`,
  );
}

function requireSame({ head }: TeamPackage, { state }: Imported): void {
  const { branch, base, tip } = state.team?.work ?? {};
  if (head.work?.branch === branch && head.work?.base === base && head.work?.tip === tip) return;
  throw new TeamError('corrupt', 'The head of the file names other work than its events');
}

async function readWhole(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > FILE_BYTES) throw new TeamError('limit', `${path} has more than ${FILE_BYTES / 1024 / 1024} MB`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof TeamError) throw error;
    throw explainFileError(error, path, 'read');
  }
}
