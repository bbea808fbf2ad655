import { z } from 'zod';
import { durationOf } from '../core/duration.ts';
import { TeamError } from '../core/errors.ts';
import { Line } from '../core/fields.ts';
import { withInner } from '../core/inner-path.ts';
import { innerReportOf } from '../core/inner-report.ts';
import type { InnerReport } from '../core/inner-report.ts';
import { isBlocked } from '../core/obstacles.ts';
import { parse } from '../core/parse.ts';
import { reportOf, TeamReport } from '../core/report.ts';
import { TeamRequest } from '../core/request.ts';
import { Situation, situationOf } from '../core/situation.ts';
import type { TeamState } from '../core/state.ts';
import { CloseTeamInput, CreateTeamInput, TeamConfig, UpdateTeamInput } from '../core/team.ts';
import { quote } from '../core/text.ts';
import { Usage } from '../core/usage.ts';
import { streamOf, teamUsage, viewTeam } from '../core/view.ts';
import { digestSince } from '../runtime/digest-since.ts';
import { chooseFallbacks } from './choose-agent.ts';
import { InTeam, Wait } from './inputs.ts';
import { operation } from './operation.ts';
import type { Services } from './operation.ts';
import { summarize, summarizeUnreadable, TeamSummary } from './team-summary.ts';
import { waitFor } from './wait.ts';

/** The status of a team. */
const TeamStatusReport = z.object({
  team: TeamConfig,
  seq: z.number().int().describe('the number of its last batch: subscribe from here'),
  stream: z.string().describe('distinguishes this team from earlier ones with its name: subscribe with it'),
  tasks: z.record(z.string(), z.number().int()).describe('number of tasks by status'),
  messages: z.number().int(),
  pendingRequests: z.array(TeamRequest),
  situation: Situation.describe('how it is, in words, and what helps'),
  usage: Usage,
});

export const teamOperations = [
  operation({
    name: 'team.create',
    summary: 'Create a team with its lead',
    scope: 'admin',
    input: CreateTeamInput,
    result: TeamConfig,
    route: 'POST /api/teams',
    message: { type: 'create_team', answer: 'team_created', fields: (team) => ({ team }) },
    cli: {
      args: ['name'],
      flags: { leadName: 'lead' },
      examples: ['troupe team create demo --description "Port the parser"', 'troupe team create demo --lead ada'],
    },
    run: ({ coordinator, actor, once }, input) =>
      coordinator.recordTeam({ ...input, ...chooseFallbacks(input.agents, input.onLimit) }, { by: actor, ...once }),
  }),
  operation({
    name: 'team.list',
    summary: 'List all teams',
    scope: 'reader',
    input: z.strictObject({
      known: z.number().int().min(0).optional().describe('with wait: answer when the sum of all seq differs from this'),
      ...Wait,
    }),
    result: z.array(TeamSummary),
    route: 'GET /api/teams',
    cli: { examples: ['troupe team list'] },
    run: async ({ ledger, caller, signal, progress }, { known, wait = 0 }) => {
      const list = async (): Promise<TeamSummary[]> => {
        const of = (teamId: string): boolean => caller.teamId === undefined || caller.teamId === teamId;
        return (await ledger.viewAll(summarize, { of, unreadable: summarizeUnreadable })).flat();
      };
      const attempt = async (): Promise<TeamSummary[] | undefined> => {
        const teams = await list();
        return known !== undefined && teams.reduce((sum, { seq }) => sum + seq, 0) === known ? undefined : teams;
      };
      const options = { ms: wait, signal, progress };
      return (await waitFor(ledger, caller.teamId, attempt, options)) ?? list();
    },
  }),
  operation({
    name: 'team.show',
    summary: 'Show a team and its members',
    scope: 'reader',
    long: true,
    input: InTeam,
    result: TeamConfig,
    route: 'GET /api/teams/:teamId',
    cli: { args: ['teamId'], examples: ['troupe team show demo'] },
    run: ({ ledger }, { teamId }) => ledger.view(teamId, viewTeam),
  }),
  operation({
    name: 'team.status',
    summary: 'Show the state of a team: members, tasks by status, open requests, usage',
    scope: 'reader',
    long: true,
    input: InTeam,
    result: TeamStatusReport,
    route: 'GET /api/teams/:teamId/status',
    message: {
      type: 'team_status',
      answer: 'team_status_update',
      fields: (status) => status,
    },
    cli: { args: ['teamId'], examples: ['troupe team status demo', 'troupe team status demo --json'] },
    run: ({ ledger }, { teamId }) =>
      ledger.view(teamId, (state, seq) => {
        const team = viewTeam(state);
        const { pending, deleted: _deleted, ...counts } = state.index.counts;
        const blocked = pending === 0 ? 0 : countBlocked(state);
        return {
          team,
          seq,
          stream: streamOf(team),
          tasks: { pending: pending - blocked, blocked, ...counts },
          messages: state.messages.size,
          situation: situationOf(state, Date.now()),
          pendingRequests: [...state.requests.values()].filter((request) => request.status === 'pending'),
          usage: teamUsage(state),
        };
      }),
  }),
  operation({
    name: 'team.update',
    summary: 'Change a team: its description, limits, lead',
    scope: 'lead',
    input: UpdateTeamInput.extend(InTeam.shape),
    result: TeamConfig,
    route: 'PATCH /api/teams/:teamId',
    cli: { args: ['teamId'], flags: { leadId: 'lead' }, examples: ['troupe team update demo --max-teammates 12'] },
    run: async ({ ledger, coordinator, actor, once }, { teamId, ...changes }) => {
      const { agents = await ledger.view(teamId, ({ team }) => team?.agents), onLimit } = changes;
      const known = { ...changes, ...chooseFallbacks(agents, onLimit) };
      return coordinator.updateTeam(teamId, known, { by: actor, ...once });
    },
  }),
  operation({
    name: 'team.close',
    summary: 'Close a team; it becomes read-only',
    scope: 'lead',
    input: CloseTeamInput.extend(InTeam.shape),
    result: TeamConfig,
    route: 'POST /api/teams/:teamId/close',
    message: { type: 'cleanup_team', answer: 'team_cleaned_up', fields: ({ id }) => ({ teamId: id }) },
    cli: { args: ['teamId'], examples: ['troupe team close demo --force'] },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'team.close', by: actor, ...once, ...input }, viewTeam),
  }),
  operation({
    name: 'team.down',
    summary: "Shut a team down: ask every member to stop, kill those that don't in time, close the team",
    scope: 'lead',
    input: InTeam.extend({
      reason: Line.default('the team is shut down').describe('why'),
      within: durationOf(0, 3_600_000).default(30_000).describe('milliseconds to agree and end'),
      force: z.boolean().default(false).describe('stop members at once, without asking'),
      ask: z
        .boolean()
        .default(true)
        .describe('ask agents, which costs a turn of each; otherwise members stop between two tasks'),
    }),
    result: TeamConfig,
    route: 'POST /api/teams/:teamId/down',
    cli: {
      command: 'down',
      args: ['teamId'],
      flags: { force: 'now' },
      examples: [
        'troupe down demo',
        'troupe down demo --within 2m --reason "enough for today"',
        'troupe down demo --now',
      ],
    },
    run: ({ coordinator, actor }, { teamId, ...options }) =>
      coordinator.shutdownTeam(teamId, { by: actor, ...options }),
  }),
  operation({
    name: 'team.digest',
    summary: 'Summarize for the lead what happened since a batch, or the state of the team',
    scope: 'member',
    long: true,
    input: InTeam.extend({
      after: z.number().int().min(0).optional().describe('the number that the last digest ended with'),
    }),
    result: z.object({ seq: z.number().int(), text: z.string(), settled: z.boolean(), due: z.boolean() }),
    route: 'GET /api/teams/:teamId/digest',
    cli: { args: ['teamId'], examples: ['troupe team digest demo', 'troupe team digest demo --after 120'] },
    run: ({ ledger }, { teamId, after }) => digestSince(ledger, teamId, after),
  }),
  operation({
    name: 'team.report',
    summary: 'Report what a team did, who did it, what it cost, what went wrong and what waits',
    scope: 'reader',
    long: true,
    input: InTeam,
    result: TeamReport,
    route: 'GET /api/teams/:teamId/report',
    cli: { args: ['teamId'], examples: ['troupe team report demo --json'] },
    run: async ({ ledger }, { teamId }) => {
      const inner = await innerReports(ledger, teamId);
      return ledger.view(teamId, (state) => reportOf(state, Date.now(), inner));
    },
  }),
  operation({
    name: 'team.delete',
    summary: 'Delete a team and everything it recorded',
    scope: 'admin',
    input: InTeam.extend({
      force: z.boolean().default(false).describe('even with live teammates, or if it cannot be read'),
    }),
    result: z.object({ teamId: z.string(), deleted: z.literal(true) }),
    route: 'DELETE /api/teams/:teamId',
    cli: { args: ['teamId'], examples: ['troupe team delete demo'] },
    run: async ({ ledger, daemon, works, inner, actor }, { teamId, force }) => {
      const status = await ledger
        .view(teamId, (state) => state.team?.status)
        .catch((error: unknown) => {
          // With `force`, a team that cannot be read may be removed too.
          if (force && error instanceof TeamError && error.code === 'corrupt') return 'cleaned-up' as const;
          throw error;
        });
      if (status === undefined) {
        throw new TeamError('not_found', `There is no team ${quote(teamId)}: nothing was deleted`);
      }
      if (status !== 'cleaned-up') {
        await ledger.execute(
          teamId,
          { type: 'team.close', by: actor, ...parse(CloseTeamInput, { force }) },
          () => undefined,
        );
      }
      await inner?.endAll(teamId);
      await removeTeam({ ledger, daemon, works }, teamId);
      return { teamId, deleted: true as const };
    },
  }),
] as const;

/** Blocked tasks as the task list shows them, including those that hooks have not judged yet. */
function countBlocked(state: TeamState): number {
  let blocked = 0;
  for (const task of state.tasks.values()) if (task.status === 'pending' && isBlocked(state, task)) blocked++;
  return blocked;
}

/** What the teams inside the members of a team did, and the teams inside those. */
async function innerReports(ledger: Services['ledger'], teamId: string): Promise<InnerReport[]> {
  const hasInner = await ledger.view(teamId, ({ tasks }) => [...tasks.values()].some(({ inner }) => inner));
  if (!hasInner) return [];
  const found = await ledger.viewAll((state) => innerReportOf(state) ?? [], { unreadable: () => [] });
  const reports = found.flat();
  const placed = reports.map(({ team: name, parent }) => ({ name, parent }));
  return withInner(placed, teamId).flatMap(
    (name) => reports.find(({ team }) => team === name && name !== teamId) ?? [],
  );
}

/** Removes all data of a closed team, and of the teams that worked for it. */
export async function removeTeam(
  { ledger, daemon, works }: Pick<Services, 'ledger' | 'daemon' | 'works'>,
  teamId: string,
): Promise<void> {
  // Teams inside its members: nobody could find them without it.
  const inner = await ledger.viewAll(({ team }) => (team?.parent?.teamId === teamId ? [team.name] : []), {
    unreadable: () => [],
  });
  for (const name of inner.flat()) await removeTeam({ ledger, daemon, works }, name);
  // First: what is not on a branch is found by the journal.
  await works?.remove(teamId);
  await ledger.drop(teamId);
  await daemon.removeTranscripts(teamId);
}
