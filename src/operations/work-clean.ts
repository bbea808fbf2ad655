import { z } from 'zod';
import { Slug } from '../core/fields.ts';
import { CommitId } from '../core/team-work.ts';
import { Timestamp } from '../core/time.ts';
import type { Leftover } from '../workspaces/leftovers.ts';
import { operation } from './operation.ts';
import { requireWorks } from './work-services.ts';

const Left = z.object({
  id: z.string().describe('what names it'),
  kind: z
    .enum(['trash', 'kept', 'branch'])
    .describe('a folder; work that is on no branch; the branch of a deleted team'),
  of: z.string().describe('the team, or team/member'),
  at: Timestamp.describe('since when'),
  goesAt: Timestamp.optional().describe('when it goes by itself; without it, only a person removes it'),
  size: z.number().optional().describe('bytes on the disk, of a folder'),
  files: z.number().int().optional().describe('how many files the work changes'),
  path: z.string().describe('the folder, or the repository that has the ref'),
  ref: z.string().optional().describe('git fetch PATH REF brings it into a repository'),
  commit: CommitId.optional(),
});

/** Operations on what workspaces left behind. */
export const workCleanOperations = [
  operation({
    name: 'work.leftovers',
    summary: 'List what workspaces left behind: folders in the trash, kept work, branches of deleted teams',
    scope: 'admin',
    long: true,
    input: z.strictObject({}),
    result: z.array(Left),
    route: 'GET /api/work/leftovers',
    cli: { examples: ['troupe work leftovers --json'] },
    run: async (context) => (await requireWorks(context).leftovers.list()).map(toResult),
  }),
  operation({
    name: 'work.disk',
    summary: 'Show what workspaces take on the disk of this machine',
    scope: 'admin',
    long: true,
    input: z.strictObject({}),
    result: z.object({
      workspaces: z.number().describe('bytes of all folders in which members work'),
      depots: z.number().describe('bytes of the repositories that they borrow from'),
      trash: z.number().describe('bytes of folders that were put away'),
      teams: z
        .array(z.object({ teamId: Slug, used: z.number(), limit: z.number() }))
        .describe('what each team takes, and may take'),
    }),
    route: 'GET /api/work/disk',
    cli: { examples: ['troupe work disk'] },
    run: (context) => requireWorks(context).disk.total(),
  }),
  operation({
    name: 'work.clean',
    summary: 'Remove for good what workspaces left behind; nothing else is touched',
    scope: 'admin',
    long: true,
    input: z.strictObject({
      ids: z
        .array(z.string().regex(/^(?:trash|[0-9a-f]{4,64})$/, 'is no id: give 4 digits or more of one, or trash'))
        .min(1)
        .max(1_000)
        .describe('what to remove, by id; trash: all folders in the trash'),
    }),
    result: z.array(Left),
    route: 'POST /api/work/clean',
    cli: { args: ['ids'], examples: ['troupe work clean', 'troupe work clean trash 3f2a91c --yes'] },
    run: async (context, { ids }) => (await requireWorks(context).leftovers.remove(ids)).map(toResult),
  }),
] as const;

function toResult({ at, goesAt, ...left }: Leftover) {
  return { ...left, at: new Date(at), ...(goesAt !== undefined && { goesAt: new Date(goesAt) }) };
}
