import { z } from 'zod';
import { addressOf, LEAD } from '../../core/address.ts';
import { escapeVoices } from '../../core/envelope.ts';
import { TeamError } from '../../core/errors.ts';
import type { TeamMember } from '../../core/member.ts';
import { answererOf, isAnsweredBy } from '../../core/request.ts';
import type { TeamRequest } from '../../core/request.ts';
import type { TeamConfig } from '../../core/team.ts';
import { hasScope } from '../../operations/caller.ts';
import type { ResultOf } from '../../operations/index.ts';
import { tool } from '../tool.ts';
import type { Answer } from '../tool.ts';
import { fromTeamName, REQUEST_TYPE } from '../words.ts';

type Status = Omit<ResultOf<'team.status'>, 'team' | 'pendingRequests'> & {
  team: TeamConfig;
  pendingRequests: TeamRequest[];
};

export const teamTools = [
  tool({
    name: 'TeamCreate',
    description: 'Create a team and become its lead; then create tasks.',
    for: 'lead',
    teamless: true,
    input: z.strictObject({
      team_name: z.string().min(1),
      description: z.string().optional(),
      agent_type: z.string().optional(),
    }),
    run: async ({ call, session }, { team_name, description, agent_type }) => {
      const name = fromTeamName(team_name);
      if (!hasScope(session.caller, 'admin')) return alreadyLeads(session.team as string, name);
      const team = await call<TeamConfig>(
        'team.create',
        {
          name,
          ...(description !== undefined && { description }),
          ...(session.as !== undefined && { leadName: session.as }),
          leadAgentType: agent_type ?? 'team-lead',
        },
        { once: true },
      );
      // The agent that creates a team leads it, as agents expect. A person's credential may act for anyone.
      if (!session.shared) Object.assign(session, { team: team.id, as: team.leadId });
      return {
        text:
          `Team "${team.id}" created; ${session.shared ? 'its lead is' : 'you are its lead,'} "${team.leadId}". ` +
          'Next: TaskCreate for each piece of work, then TeamStatus and Inbox to follow it.',
        data: { team_name: team.id, lead: team.leadId, description: team.description },
      };
    },
  }),

  tool({
    name: 'TeamDelete',
    description: 'Close your team when all work is done. Shut teammates down first (SendMessage, shutdown_request).',
    for: 'lead',
    input: z.strictObject({}),
    run: async ({ call, teamId }) => {
      await call('team.close', { teamId }, { once: true });
      return {
        text: `Team "${teamId}" is closed. Its tasks and messages can be read but no longer changed.`,
        data: { team_name: teamId, closed: true },
      };
    },
  }),

  tool({
    name: 'TeamStatus',
    description: 'Show the members and what they do, task counts by status, and open requests.',
    for: 'reader',
    reads: true,
    input: z.strictObject({}),
    run: async ({ call, teamId, memberId }) => {
      const { team, tasks, pendingRequests } = await call<Status>('team.status', { teamId });
      const peers = (team.peers ?? []).map((other) => addressOf({ memberId: LEAD, teamId: other }));
      const requests = pendingRequests.map((request) => {
        const waitsFor = answerer(request, { memberId, leadId: team.leadId });
        return {
          // With the id of another's request, an agent would only try to answer it in vain.
          ...((waitsFor === 'you' || memberId === undefined) && { request_id: request.id }),
          type: REQUEST_TYPE[request.kind],
          member: request.memberId,
          requested_by: request.requestedBy,
          waits_for: waitsFor,
        };
      });
      const lines = [
        `Team "${team.id}" (${team.status}), led by ${team.leadId}${memberId === undefined ? '' : `; you are ${memberId}`}.`,
        `Tasks: ${countTasks(tasks)}.`,
        'Members:',
        ...team.members.map(describeMember),
        ...(team.agents ? [`Agents for SpawnTeammate: ${Object.keys(team.agents).join(', ')}.`] : []),
        ...(peers.length > 0 ? [`Other teams that you can write to: ${peers.join(', ')}.`] : []),
        ...requests.map(
          ({ waits_for, type, member, request_id }) =>
            `Waits for ${waits_for}: ${type} of ${member}${waits_for === 'you' ? ` (request_id ${request_id}): see Inbox` : ''}`,
        ),
      ];
      return {
        text: lines.join('\n'),
        data: {
          team_name: team.id,
          description: team.description,
          status: team.status,
          lead: team.leadId,
          ...(memberId !== undefined && { you: memberId }),
          tasks,
          members: team.members.map(toMember),
          ...(team.agents && { agents: Object.keys(team.agents) }),
          ...(peers.length > 0 && { peers }),
          requests,
        },
      };
    },
  }),
];

/** Who has to answer a request, as the reader of the status would say. */
function answerer(
  request: TeamRequest,
  { memberId, leadId }: { memberId: string | undefined; leadId: string },
): string {
  if (isAnsweredBy(request, { memberId, leadId })) return 'you';
  const who = answererOf(request.kind);
  // A lead does not judge its own plan.
  if (who === 'person' || (who === 'lead' && request.memberId === leadId)) return 'a person';
  return who === 'lead' ? leadId : request.memberId;
}

/** A lead's credential is for one team. Agents that begin with TeamCreate are told that the team exists. */
function alreadyLeads(teamId: string, name: string): Answer {
  if (name !== teamId) {
    throw new TeamError('not_allowed', `You lead team "${teamId}" and cannot create another: continue with TaskCreate`);
  }
  return {
    text: `You lead team "${teamId}" already. Next: TaskCreate for each piece of work.`,
    data: { team_name: teamId },
  };
}

function toMember(member: TeamMember): Record<string, unknown> {
  const { name, role, status, model, assignedTasks, planModeRequired } = member;
  return {
    name,
    role,
    status,
    ...(model !== undefined && { model }),
    tasks: assignedTasks,
    ...(planModeRequired && { needs_plan_approval: true }),
  };
}

function describeMember({ name, role, status, assignedTasks, planModeRequired }: TeamMember): string {
  const tasks = assignedTasks.length > 0 ? `, has ${assignedTasks.map((id) => `#${id}`).join(' ')}` : '';
  return `- ${name} (${escapeVoices(role)}): ${status}${tasks}${planModeRequired ? ', needs an approved plan' : ''}`;
}

function countTasks(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.map(([status, count]) => `${count} ${status.replace('_', ' ')}`).join(', ') || 'none';
}
