import { z } from 'zod';
import { Account, AccountId, ReportAccountInput } from '../core/account.ts';
import { TeamError } from '../core/errors.ts';
import { Slug } from '../core/fields.ts';
import { requireMember, requireTeam } from '../core/view.ts';
import { hasScope } from './caller.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';

export const accountOperations = [
  operation({
    name: 'account.list',
    summary: 'List the accounts of the team: how much of their limits is used, and which cannot be used now',
    scope: 'reader',
    input: InTeam,
    result: z.array(Account),
    route: 'GET /api/teams/:teamId/accounts',
    cli: { examples: ['troupe account list --team demo'] },
    run: ({ ledger }, { teamId }) =>
      ledger.view(teamId, (state) => {
        requireTeam(state);
        return [...state.accounts.values()];
      }),
  }),
  operation({
    name: 'account.report',
    summary: "Record what a provider says about a member's account",
    scope: 'member',
    input: ReportAccountInput.extend(InTeam.shape),
    result: z.object({ account: Account.optional() }),
    route: 'POST /api/teams/:teamId/members/:memberId/account',
    cli: { args: ['memberId'], examples: ['troupe account report worker-1 --team demo --cause overloaded'] },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'account.report', by: actor, ...once, ...input }, (state) => ({
        account: state.accounts.get(state.members.get(input.memberId)?.account ?? ''),
      })),
  }),
  operation({
    name: 'account.enter',
    summary: 'Ask whether a member may begin a turn now: its account can be used, and it has no quiet hours',
    scope: 'member',
    input: InTeam.extend({
      memberId: Slug.describe('the member'),
      switches: z.boolean().default(false).describe('for its process only: it can go on with another agent'),
    }),
    result: z.object({
      free: z.boolean(),
      isTry: z.boolean().optional().describe('its turn shows whether the account can be used again'),
      tries: z.number().int().optional().describe('how often that failed in a row'),
      limitAt: z
        .number()
        .int()
        .optional()
        .describe('when it was learned that the account has a limit, or none any more: account.report tells it back'),
      until: z.number().int().optional().describe('ask again then, in milliseconds since 1970'),
      quiet: z.boolean().optional().describe('it has quiet hours'),
      switched: z.boolean().optional().describe('it goes on with another agent: read its record again'),
      account: Account.optional(),
    }),
    route: 'POST /api/teams/:teamId/members/:memberId/account/enter',
    cli: { args: ['memberId'], examples: ['troupe account enter worker-1 --team demo'] },
    run: async ({ ledger, accounts, caller, actor }, { teamId, memberId, switches }) => {
      if (actor !== memberId && !hasScope(caller, 'lead')) {
        throw new TeamError('not_allowed', `${actor} may not begin a turn of ${memberId}`);
      }
      await ledger.view(teamId, (state) => requireMember(state, memberId).id);
      return { ...(await accounts.enter(teamId, memberId, { switches: switches && actor === memberId })) };
    },
  }),
  operation({
    name: 'account.clear',
    summary: 'Use an account again now, in every team: you logged in, or its limit is over',
    scope: 'admin',
    input: InTeam.extend({ account: AccountId.describe('the account, such as claude or claude@second') }),
    result: Account.nullable(),
    route: 'POST /api/teams/:teamId/accounts/clear',
    cli: { args: ['account'], examples: ['troupe account clear claude --team demo'] },
    run: ({ ledger, actor, once }, { teamId, account }) =>
      ledger.execute(
        teamId,
        { type: 'account.set', by: actor, ...once, account, limit: null },
        (state) => state.accounts.get(account) ?? null,
      ),
  }),
] as const;
