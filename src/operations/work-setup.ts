import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { Slug } from '../core/fields.ts';
import { requireMember, requireTeam } from '../core/view.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';

const SetupRun = z.object({
  command: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  startedAt: z.number().describe('milliseconds since 1970'),
  endedAt: z.number().optional(),
  why: z.string().optional().describe('why it failed'),
  reads: z.array(z.string()).describe('the files whose change makes it run again'),
  wrote: z.array(z.string()).describe('the files that it changed and that git does not ignore'),
  output: z.string().describe('what it printed; of a long output, the beginning and the end'),
});

export const workSetupOperations = [
  operation({
    name: 'work.setup',
    summary: 'Show the last run of the setup in the workspace of a member, and what it printed',
    scope: 'reader',
    long: true,
    input: InTeam.extend({ memberId: Slug.describe('the member') }),
    result: SetupRun.nullable(),
    route: 'GET /api/teams/:teamId/members/:memberId/work/setup',
    cli: { args: ['memberId'], examples: ['troupe work setup worker-1 --team demo'] },
    run: async ({ ledger, works }, worker) => {
      await ledger.view(worker.teamId, (state) => {
        requireTeam(state);
        requireMember(state, worker.memberId);
      });
      if (!works) throw new TeamError('unsupported', 'This process has no workspaces: use a daemon');
      const run = works.setupOf(worker);
      if (!run) return null;
      const { before: _before, after: _after, ...shown } = run;
      return shown;
    },
  }),
] as const;
