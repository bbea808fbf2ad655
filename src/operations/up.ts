import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { TeamConfig } from '../core/team.ts';
import { quote } from '../core/text.ts';
import { viewTeam } from '../core/view.ts';
import { parseTeamFile } from '../runtime/team-file/parse.ts';
import { hooksOf, raiseTeam } from '../runtime/team-file/raise.ts';
import { operation } from './operation.ts';

const Source = z.strictObject({
  source: z.string().describe('the text of the team file'),
  name: z.string().max(4_096).default('troupe.yaml').describe('what to call the file in errors'),
  folder: z.string().max(4_096).refine(isAbsolute, 'must be absolute').describe('where the file lies'),
});

export const upOperations = [
  operation({
    name: 'team.check',
    summary: 'Read a team file and say which of its hooks nobody has approved yet',
    scope: 'admin',
    input: Source,
    result: z.object({
      team: z.string(),
      members: z.number().int(),
      tasks: z.number().int(),
      unapproved: z.array(z.object({ type: z.string(), command: z.string(), hash: z.string() })),
    }),
    route: 'POST /api/check',
    cli: { args: ['source'] },
    run: async ({ hooks }, { source, name, folder }) => {
      const file = parseTeamFile(source, name);
      const unapproved = hooks.unapproved(hooksOf(file, folder));
      return { team: file.team, members: file.members.length, tasks: file.tasks.length, unapproved };
    },
  }),
  operation({
    name: 'team.up',
    summary: 'Bring a team to what its file says: made, or completed by what is missing',
    scope: 'admin',
    input: Source.extend({
      approve: z.array(z.string()).default([]).describe('hashes of hooks that the person approves'),
      yes: z.boolean().default(false).describe('approve all hooks of the file'),
    }),
    result: TeamConfig,
    route: 'POST /api/up',
    cli: { args: ['source'] },
    run: async ({ ledger, hooks, actor }, { source, name, folder, approve, yes }) => {
      const file = parseTeamFile(source, name);
      const configs = hooksOf(file, folder);
      hooks.approve(
        yes ? configs : configs.filter(({ approved }) => approved !== undefined && approve.includes(approved)),
      );
      const [left] = hooks.unapproved(configs);
      if (left) {
        throw new TeamError(
          'not_allowed',
          `The ${left.type} hook ${quote(left.command)} of ${name} is not approved: read it, then say --yes`,
        );
      }
      await raiseTeam(ledger, file, folder, async (registered, tasks) => {
        const unwanted = await hooks.judgeNewTasks(file.team, { hooks: registered, tasks, createdBy: actor });
        if (unwanted.length === 0) return;
        const said = unwanted.map(({ title, feedback }) => `  ${quote(title)}: ${feedback.replaceAll('\n', '\n    ')}`);
        throw new TeamError(
          'gate_rejected',
          `A hook does not want ${unwanted.length} of the tasks of ${name}, so nothing was made:\n${said.join('\n')}`,
        );
      });
      return ledger.view(file.team, viewTeam);
    },
  }),
] as const;
