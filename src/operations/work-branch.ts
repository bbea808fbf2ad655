import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { CommitId } from '../core/team-work.ts';
import { requireTeam } from '../core/view.ts';
import { mergeWork } from '../runtime/work/merge.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import { requireWorks } from './work-services.ts';

/** Commits of the checkout that a branch lacks. */
export const Ahead = z.object({
  commits: z.number().int().describe('how many'),
  isOnTop: z.boolean().describe('HEAD has all of the branch; otherwise merge the branch first'),
});

export const workBranchOperations = [
  operation({
    name: 'work.locate',
    summary: 'Say where the repository of a team is, after it was moved',
    scope: 'admin',
    input: InTeam.extend({
      folder: z.string().max(4_096).refine(isAbsolute, 'must be absolute').describe('a folder in the moved checkout'),
    }),
    result: z.object({ repository: z.string().describe('its top folder') }),
    route: 'POST /api/teams/:teamId/work/locate',
    cli: { args: ['folder'], examples: ['troupe work locate "$PWD" --team demo'] },
    run: async (context, { teamId, folder }) => {
      const before = await context.ledger.view(teamId, (state) => requireTeam(state).work?.repository);
      const repository = await requireWorks(context).recognise(teamId, folder);
      if (repository !== undefined) return { repository };
      if (before === undefined) {
        throw new TeamError('conflict', `Team ${teamId} has no workspaces: its members share a folder`);
      }
      throw new TeamError(
        'conflict',
        `The repository of team ${teamId} was not moved to ${folder}: it is still in ${before}, or this is another one`,
      );
    },
  }),
  operation({
    name: 'work.take',
    summary: "Take your own commits into the team's branch: a branch, tag or commit of your repository",
    scope: 'admin',
    long: true,
    input: InTeam.extend({
      what: z.string().min(1).max(255).optional().describe("what to take (default: your branch of the team's name)"),
      rewrite: z
        .boolean()
        .default(false)
        .describe('also if it does not have all commits of the branch: it then replaces them'),
    }),
    result: z.object({
      from: CommitId.describe('the last commit of the branch before'),
      to: CommitId.describe('the commit that was named'),
      isMoved: z.boolean().describe('false: the branch had it already'),
      isRewritten: z.boolean().describe('commits of the branch were replaced'),
      commits: z.number().int().describe('how many commits came'),
      ahead: Ahead.optional().describe(
        'nothing was named and nothing came, but HEAD of the checkout has commits that the branch lacks',
      ),
    }),
    route: 'POST /api/teams/:teamId/work/take',
    cli: { args: ['what'], examples: ['troupe work take', 'troupe work take HEAD --team demo'] },
    run: (context, { teamId, ...taken }) => requireWorks(context).take(teamId, taken),
  }),
  operation({
    name: 'work.merge',
    summary: "Merge the team's branch into your checkout on the daemon's machine, as troupe merge does",
    scope: 'admin',
    long: true,
    input: InTeam,
    result: z.object({
      team: z.string(),
      branch: z.string().describe("the team's branch"),
      into: z.string().optional().describe('the branch of the checkout; absent if its HEAD is detached'),
      base: CommitId.describe('the commit that the team began from'),
      tip: CommitId.describe('the last commit of the branch'),
      merged: z.boolean().describe('false: nothing has landed, or the checkout had it all'),
      files: z.number().int().describe('how many files the branch changes'),
      added: z.number().int(),
      removed: z.number().int(),
    }),
    route: 'POST /api/teams/:teamId/work/merge',
    cli: { examples: ['troupe work merge --team demo'] },
    run: (context, { teamId }) => mergeWork(requireWorks(context), teamId),
  }),
] as const;
