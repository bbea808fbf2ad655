import { z } from 'zod';
import { AgentExtras } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { Line, Slug, textOf } from '../core/fields.ts';
import { RESULT_BYTES } from '../core/limits.ts';
import { ChangeMemberInput, JoinInput, LeaveInput, TeamMember, TeammateStatus } from '../core/member.ts';
import type { TeamState } from '../core/state.ts';
import { Timestamp } from '../core/time.ts';
import { requireMember, requireTeam, viewMember } from '../core/view.ts';
import { hasScope } from './caller.ts';
import { agentForTeammate, chooseAgent, fallbacksFor } from './choose-agent.ts';
import { InSandbox, InTeam } from './inputs.ts';
import { operation } from './operation.ts';

const SessionView = z.object({
  id: z.string(),
  teamId: z.string(),
  teamRole: z.enum(['lead', 'teammate']),
  memberId: z.string(),
  status: TeammateStatus,
  startedAt: Timestamp,
  pid: z.number().int().optional(),
  /** The daemon that runs it; the process id is valid only on that machine. */
  hostId: z.string().optional(),
});

const OfMember = InTeam.extend({ memberId: Slug.describe('the member') });

export const memberOperations = [
  operation({
    name: 'member.add',
    summary: 'Add a member to a team',
    scope: 'lead',
    input: JoinInput.extend({ ...InSandbox, ...InTeam.shape }),
    result: TeamMember,
    route: 'POST /api/teams/:teamId/members',
    cli: {
      args: ['name'],
      examples: [
        'troupe member add worker-1 --team demo --role tester',
        'troupe member add ada --team demo --plan-approval-required --prompt - < brief.md',
      ],
    },
    run: async ({ ledger, daemon, caller, actor, once }, { teamId, sandbox, ...input }) => {
      const wish = { ...input, sandbox };
      const agent =
        input.agent &&
        (await ledger.view(teamId, (state) => chooseAgent(state, caller, wish, () => daemon.defaultAgent())));
      const fallbacks = await fallbacksFor(ledger, teamId, input);
      return ledger.execute(
        teamId,
        { type: 'member.join', by: actor, ...once, ...input, agent, ...fallbacks },
        (state) => memberOf(state, input.name),
      );
    },
  }),
  operation({
    name: 'member.spawn',
    summary: 'Start a teammate: a daemon runs its agent',
    scope: 'lead',
    input: JoinInput.omit({ status: true, sessionId: true }).extend({
      ...AgentExtras.shape,
      ...InSandbox,
      ...InTeam.shape,
    }),
    result: TeamMember,
    route: 'POST /api/teams/:teamId/teammates',
    message: { type: 'spawn_teammate', answer: 'teammate_spawned', fields: (member) => ({ member }) },
    cli: {
      args: ['name'],
      examples: [
        'troupe member spawn tester --team demo --agent codex --effort high --skills docs/testing.md',
        `troupe member spawn worker-1 --team demo --agent '{"exec":"./work.sh"}'`,
        'troupe member spawn tester --team demo --agent claude --sandbox true',
      ],
    },
    run: async (
      { ledger, coordinator, daemon, caller, actor, once },
      { teamId, sandbox, effort, mcp, skills, tools, ...input },
    ) => {
      const extras = { effort, mcp, skills, tools };
      const agent = await agentForTeammate({ ledger, daemon }, caller, { teamId, sandbox, extras, ...input });
      const fallbacks = await fallbacksFor(ledger, teamId, input);
      const { agents = [] } = fallbacks.onLimit ?? {};
      daemon.requireAgents?.(agents.map((one) => ({ spec: one.agent, cwd: input.cwd })));
      return coordinator.spawnTeammate(teamId, { ...input, agent, ...fallbacks }, actor, once);
    },
  }),
  operation({
    name: 'member.stop',
    summary: 'Stop a teammate now, without asking it; its tasks go back to the list',
    scope: 'lead',
    input: OfMember.extend({ reason: Line.default('stopped').describe('why') }),
    result: z.object({ memberId: z.string(), how: z.string() }),
    route: 'POST /api/teams/:teamId/members/:memberId/stop',
    cli: { args: ['memberId'], examples: ['troupe member stop worker-1 --team demo --reason "it loops"'] },
    run: async ({ coordinator }, { teamId, memberId, reason }) => ({
      memberId,
      how: await coordinator.shutdownTeammate(teamId, memberId, reason),
    }),
  }),
  operation({
    name: 'member.restart',
    summary: 'Restart a teammate; it resumes its session if its agent can',
    scope: 'lead',
    input: OfMember,
    result: TeamMember,
    route: 'POST /api/teams/:teamId/members/:memberId/restart',
    cli: { args: ['memberId'], examples: ['troupe member restart worker-1 --team demo'] },
    run: ({ sessions, actor }, { teamId, memberId }) => sessions.restartSession(teamId, memberId, actor),
  }),
  operation({
    name: 'session.list',
    summary: 'List the sessions of a team: member, start time, process',
    scope: 'reader',
    input: InTeam,
    result: z.array(SessionView),
    route: 'GET /api/teams/:teamId/sessions',
    cli: { examples: ['troupe session list --team demo'] },
    run: ({ sessions }, { teamId }) => sessions.getSessionsByTeam(teamId),
  }),
  operation({
    name: 'member.list',
    summary: 'List the members of a team',
    scope: 'reader',
    long: true,
    input: InTeam,
    result: z.array(TeamMember),
    route: 'GET /api/teams/:teamId/members',
    cli: { examples: ['troupe member list --team demo'] },
    run: ({ ledger }, { teamId }) =>
      ledger.view(teamId, (state) => {
        requireTeam(state);
        return [...state.members.values()].map((member) => viewMember(state, member));
      }),
  }),
  operation({
    name: 'member.show',
    summary: 'Show a member',
    scope: 'reader',
    input: OfMember,
    result: TeamMember.extend({
      folder: z.string().optional().describe('its own workspace, if that is on the machine that answers'),
    }),
    route: 'GET /api/teams/:teamId/members/:memberId',
    cli: { args: ['memberId'], examples: ['troupe member show worker-1 --team demo'] },
    run: ({ ledger, works }, { teamId, memberId }) =>
      ledger.view(teamId, (state) => {
        const member = memberOf(state, memberId);
        const folder = works?.isHere(state, memberId) ? works.folderOf(state, memberId) : undefined;
        return { ...member, ...(folder !== undefined && { folder }) };
      }),
  }),
  operation({
    name: 'member.update',
    summary: 'Change a member: its status, role, model',
    scope: 'member',
    input: ChangeMemberInput.extend(InTeam.shape),
    result: TeamMember,
    route: 'PATCH /api/teams/:teamId/members/:memberId',
    cli: {
      args: ['memberId'],
      examples: [
        'troupe member update worker-1 --team demo --status idle --result "All tests pass"',
        'troupe member update worker-1 --team demo --quiet-hours 22:00-07:00',
        `troupe member update worker-1 --team demo --on-limit '{"fallback":["codex"]}'`,
      ],
    },
    run: async ({ ledger, actor, once }, { teamId, ...input }) => {
      const fallbacks = await fallbacksFor(ledger, teamId, input);
      return ledger.execute(teamId, { type: 'member.change', by: actor, ...once, ...input, ...fallbacks }, (state) =>
        memberOf(state, input.memberId),
      );
    },
  }),
  operation({
    name: 'member.idle',
    summary: 'Report that a member has nothing left to do; a hook may give it more',
    scope: 'member',
    input: OfMember.extend({
      result: textOf(RESULT_BYTES).optional().describe('its result'),
      reason: Line.optional().describe('why'),
    }),
    result: z.object({ idle: z.boolean() }),
    route: 'POST /api/teams/:teamId/members/:memberId/idle',
    cli: {
      args: ['memberId'],
      examples: ['troupe member idle worker-1 --team demo --as worker-1 --result "All tests pass"'],
    },
    run: async ({ mailbox, caller, actor, once }, { teamId, memberId, result, reason }) => {
      if (actor !== memberId && !hasScope(caller, 'lead')) {
        throw new TeamError('not_allowed', `${actor} may not report that ${memberId} is idle`);
      }
      const said = { ...(result !== undefined && { result }), ...(reason !== undefined && { reason }) };
      return {
        idle: await mailbox.notifyIdle(teamId, memberId, {
          ...said,
          ...(actor === memberId && once.onHost !== undefined && { onHost: once.onHost }),
        }),
      };
    },
  }),
  operation({
    name: 'member.remove',
    summary: 'Remove a member from the team; its tasks go back to the list',
    scope: 'member',
    input: LeaveInput.extend(InTeam.shape),
    result: TeamMember,
    route: 'DELETE /api/teams/:teamId/members/:memberId',
    cli: { args: ['memberId'], examples: ['troupe member remove worker-1 --team demo --reason "done"'] },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'member.leave', by: actor, ...once, ...input }, (state) =>
        memberOf(state, input.memberId),
      ),
  }),
  operation({
    name: 'member.token',
    summary: 'Make a credential for a program that acts as this member',
    scope: 'admin',
    input: OfMember.extend({
      readOnly: z.boolean().default(false).describe('a credential that can only read the team'),
    }),
    result: z.object({
      teamId: z.string(),
      memberId: z.string(),
      scope: z.enum(['member', 'lead', 'reader']),
      token: z.string(),
    }),
    route: 'POST /api/teams/:teamId/members/:memberId/token',
    cli: { args: ['memberId'], examples: ['TROUPE_TOKEN=$(troupe member token worker-1 --team demo) ./agent.sh'] },
    run: async ({ ledger, daemon }, { teamId, memberId, readOnly }) => {
      const isLead = await ledger.view(
        teamId,
        (state) => requireMember(state, memberId).id === requireTeam(state).leadId,
      );
      const scope = readOnly ? 'reader' : isLead ? 'lead' : 'member';
      return { teamId, memberId, scope, token: await daemon.memberToken(teamId, memberId, scope) } as const;
    },
  }),
] as const;

function memberOf(state: TeamState, memberId: string): TeamMember {
  requireTeam(state);
  return viewMember(state, requireMember(state, memberId));
}
