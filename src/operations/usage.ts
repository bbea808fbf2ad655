import { z } from 'zod';
import { budgetUses } from '../core/budget-use.ts';
import { Slug, TaskId } from '../core/fields.ts';
import type { TeamState } from '../core/state.ts';
import { RecordUsageInput, Usage } from '../core/usage.ts';
import { requireMember, requireTask, requireTeam } from '../core/view.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';

export const usageOperations = [
  operation({
    name: 'usage.record',
    summary: 'Record the usage of a member',
    scope: 'member',
    input: RecordUsageInput.extend(InTeam.shape),
    result: Usage,
    route: 'POST /api/teams/:teamId/members/:memberId/usage',
    cli: {
      args: ['memberId'],
      examples: [`troupe usage record worker-1 --team demo --usage '{"inputTokens":1200,"turns":1}'`],
    },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'usage.record', by: actor, ...once, ...input }, (state) =>
        usageOf(state, input.memberId),
      ),
  }),
  operation({
    name: 'budget.show',
    summary: 'Show how much of their budgets a team, a member and a task have used',
    scope: 'reader',
    input: InTeam.extend({
      memberId: Slug.optional().describe('the member; leave it out for the team budget only'),
      taskId: TaskId.optional().describe('a task whose budget is shown, too'),
    }),
    result: z.array(
      z.object({
        of: z.enum(['team', 'member', 'task']),
        taskId: TaskId.optional().describe('the task, if it is the budget of one'),
        what: z.enum(['tokens', 'costUsd', 'turns', 'minutes']),
        used: z.number(),
        limit: z.number(),
        share: z.number().describe('the used share of the limit; at 1 no new turn begins'),
      }),
    ),
    route: 'GET /api/teams/:teamId/members/:memberId/budget',
    cli: {
      args: ['memberId'],
      examples: [
        'troupe budget show --team demo',
        'troupe budget show worker-1 --team demo',
        'troupe budget show --task 3 --team demo',
      ],
    },
    run: ({ ledger }, { teamId, memberId, taskId }) =>
      ledger.view(teamId, (state) => {
        requireTeam(state);
        const member = memberId === undefined ? undefined : requireMember(state, memberId);
        const task = taskId === undefined ? undefined : requireTask(state, taskId);
        return budgetUses(state, { memberId: member?.id, taskId: task?.id }, Date.now());
      }),
  }),
  operation({
    name: 'usage.show',
    summary: 'Show the usage of each member and task',
    scope: 'reader',
    input: InTeam,
    result: z.object({ members: z.record(z.string(), Usage), tasks: z.record(z.string(), Usage) }),
    route: 'GET /api/teams/:teamId/usage',
    cli: { examples: ['troupe usage show --team demo'] },
    run: ({ ledger }, { teamId }) =>
      ledger.view(teamId, (state) => {
        requireTeam(state);
        return { members: Object.fromEntries(state.memberUsage), tasks: Object.fromEntries(state.taskUsage) };
      }),
  }),
] as const;

function usageOf(state: TeamState, memberId: string): Usage {
  return state.memberUsage.get(memberId) ?? Usage.parse({});
}
