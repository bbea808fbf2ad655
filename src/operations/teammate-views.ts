import { z } from 'zod';
import { nameOf } from '../bridge/format.ts';
import type { NativeMember, NativeTask } from '../bridge/format.ts';
import { leadEnded, leadOf } from '../bridge/mirror/presence/lead.ts';
import type { NativeTeam } from '../bridge/snapshot.ts';
import { TeamMember } from '../core/member.ts';
import type { TeamState } from '../core/state.ts';
import { SharedTask } from '../core/task.ts';
import { viewMember } from '../core/view.ts';
import { taskOf } from './native-views.ts';

/** A teammate, for programs that know only agents; of one in a native team only what its files say is known. */
export const Teammate = TeamMember.partial().extend({
  id: z.string(),
  name: z.string(),
  agentId: z.string(),
  status: TeamMember.shape.status,
  teamLeadId: z.string().describe('the agent that leads its team'),
  teamName: z.string(),
  currentTask: z.string().optional().describe('the title of the task that it works on'),
});
export type Teammate = z.output<typeof Teammate>;

/** A task of an agent's team, native or not, with the same field names. */
export const TeammateTask = SharedTask.partial().extend({
  id: z.string(),
  teamId: z.string(),
  title: z.string(),
  status: SharedTask.shape.status,
  assigneeId: z.string().optional(),
  dependencies: z.array(z.string()),
});
export type TeammateTask = z.output<typeof TeammateTask>;

/** The other members of an agent's team. */
export function viewTeammates(state: TeamState, memberId: string): Teammate[] {
  const { team } = state;
  if (!team) return [];
  const teamLeadId = state.members.get(team.leadId)?.agentId ?? `${team.leadId}@${team.id}`;
  const working = new Map<string, string>();
  for (const { status, assigneeId = '', title } of state.tasks.values()) {
    if (status === 'in_progress') working.set(assigneeId, title);
  }
  return [...state.members.values()]
    .filter(({ id }) => id !== memberId)
    .map((member) => ({
      ...viewMember(state, member),
      teamLeadId,
      teamName: team.name,
      currentTask: working.get(member.id),
    }));
}

/** The member of a native team with this id: its own, `name@team`, or the lead's session. */
export function findNativeAgent(teams: readonly NativeTeam[], id: string): NativeAgent | undefined {
  for (const team of teams) {
    const { config } = team;
    // A session without a team has tasks but no members.
    if (team.kind === 'session' ? team.name === id : config?.leadSessionId === id) return { team, name: leadOf(team) };
    const member = config?.members.find((one) => agentIdOf(team, one) === id || `${one.name}@${team.name}` === id);
    if (member) return { team, name: member.name };
  }
  return undefined;
}

/** A member of a native team. */
export interface NativeAgent {
  readonly team: NativeTeam;
  readonly name: string;
}

/** The other members of an agent's native team. */
export function viewNativeTeammates({ team, name }: NativeAgent): Teammate[] {
  const { config } = team;
  if (!config) return [];
  const lead = leadOf(team);
  const teamLeadId = config.leadAgentId ?? `${lead}@${team.name}`;
  const isOver = leadEnded(team) !== undefined;
  return config.members
    .filter((member) => member.name !== name)
    .map((member) => {
      const agentId = agentIdOf(team, member);
      const { model, color, cwd, agentType, isActive } = member;
      const task = taskOf(team, member);
      // Only teammates in panes report whether they work.
      const isAtWork = isActive ?? task !== undefined;
      return {
        id: member.name,
        name: member.name,
        agentId,
        status: isOver ? 'stopped' : isAtWork ? 'active' : 'idle',
        teamLeadId,
        teamName: nameOf(config),
        currentTask: task?.subject,
        ...known({ model, color, cwd, agentType }),
      };
    });
}

/** All tasks of an agent's native team. */
export function viewNativeTasks({ team }: NativeAgent): TeammateTask[] {
  const tasks = tasksOf(team);
  const isOpen = (id: string): boolean => {
    const status = team.tasks.get(id)?.status;
    return status === 'pending' || status === 'in_progress';
  };
  return tasks.map(({ id, subject, status, blockedBy: dependencies = [], ...task }) => {
    const blockedBy = status === 'pending' ? dependencies.filter(isOpen) : [];
    return {
      id,
      teamId: team.name,
      title: subject,
      status: blockedBy.length > 0 ? 'blocked' : status,
      dependencies,
      blockedBy,
      blocks: task.blocks ?? [],
      ...known({ assigneeId: task.owner, description: task.description, activeForm: task.activeForm }),
    };
  });
}

/** Without deleted tasks and those that represent a running teammate; Claude Code hides both too. */
function tasksOf({ tasks }: NativeTeam): NativeTask[] {
  return [...tasks.values()].filter(({ metadata, status }) => metadata?.['_internal'] !== true && status !== 'deleted');
}

function agentIdOf({ name }: NativeTeam, member: NativeMember): string {
  return member.agentId ?? `${member.name}@${name}`;
}

function known<T extends object>(fields: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
