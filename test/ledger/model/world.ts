import type { Actor } from '../../../src/core/actor.ts';
import type { AgentSpec } from '../../../src/core/agent.ts';
import type { HookConfig } from '../../../src/core/hook.ts';
import type { Metadata } from '../../../src/core/json.ts';
import type { TeammateStatus } from '../../../src/core/member.ts';
import type { MessageType } from '../../../src/core/message.ts';
import type { RequestStatus, TeamRequest } from '../../../src/core/request.ts';
import type { DependencyFailurePolicy, SharedTaskPriority, StoredTaskStatus } from '../../../src/core/task.ts';
import type { TeamStatus } from '../../../src/core/team.ts';
import type { Usage } from '../../../src/core/usage.ts';

/*
 * A team as simple lists, as on paper, without anything that can be derived from them. Times are numbers.
 */

/** The name of the only team. */
export const TEAM = 'crew';

export interface Team {
  description: string;
  leadId: string;
  leadSessionId: string;
  maxTeammates: number;
  messagesPerMinute?: number | undefined;
  delegateMode: boolean;
  createdAt: number;
  closedAt?: number;
  status: TeamStatus;
  hooks: HookConfig[];
  metadata?: Metadata | undefined;
}

export interface Member {
  id: string;
  sessionId: string;
  role: string;
  agentType: string;
  status: TeammateStatus;
  statusSince: number;
  spawnPrompt?: string | undefined;
  planApprovalRequired: boolean;
  planApproved: boolean;
  model?: string | undefined;
  color?: string | undefined;
  cwd?: string | undefined;
  backendType: string;
  agent?: AgentSpec | undefined;
  hostId?: string;
  joinedAt: number;
  stoppedAt?: number;
  stopReason?: string | undefined;
  returning?: boolean | undefined;
  lastResult?: string | undefined;
  metadata?: Metadata | undefined;
}

export interface Task {
  id: string;
  title: string;
  description: string;
  activeForm?: string | undefined;
  status: StoredTaskStatus;
  priority: SharedTaskPriority;
  assigneeId?: string | undefined;
  reserved: boolean;
  dependencies: string[];
  onDependencyFailure: DependencyFailurePolicy;
  epoch: number;
  revision: number;
  rejections: number;
  feedback?: string | undefined;
  result?: string | undefined;
  failure?: string | undefined;
  createdBy: Actor;
  createdAt: number;
  updatedAt: number;
  startedAt?: number | undefined;
  completedAt?: number | undefined;
  metadata?: Metadata | undefined;
}

export interface Message {
  id: string;
  fromId: Actor;
  toId: string;
  type: MessageType;
  content: string;
  summary?: string | undefined;
  priority: string;
  sentAt: number;
  deliveredAt?: number;
  sessionId?: string;
  formerSessions?: string[];
  acknowledgedAt?: number;
  readAt?: number;
  redeliveries: number;
  broadcastId?: string;
  metadata?: Metadata | undefined;
}

export interface Request {
  id: string;
  kind: TeamRequest['kind'];
  memberId: string;
  requestedBy: Actor;
  requestedAt: number;
  content: string;
  filePath?: string | undefined;
  taskId?: string | undefined;
  deadline?: number | undefined;
  detail?: Metadata | undefined;
  status: RequestStatus;
  answeredBy?: Actor;
  answeredAt?: number;
  feedback?: string | undefined;
}

export interface Note {
  id: string;
  authorId: Actor;
  text: string;
  tags: string[];
  createdAt: number;
  updatedAt: number;
  revision: number;
}

export interface World {
  team?: Team;
  members: Member[];
  tasks: Task[];
  messages: Message[];
  requests: Request[];
  notes: Note[];
  /** Which actors started agents, and when. */
  spawns: { by: Actor; at: number }[];
  /** How many notes were ever made. */
  notesEver: number;
  usages: { memberId: string; taskId?: string | undefined; usage: Usage }[];
  /** The command ids of commands that had an effect, and their actors. */
  receipts: { commandId: string; by: Actor; says: string }[];
}

export function emptyWorld(): World {
  return {
    members: [],
    tasks: [],
    messages: [],
    requests: [],
    notes: [],
    spawns: [],
    notesEver: 0,
    usages: [],
    receipts: [],
  };
}

/** The open dependencies of a task, whatever its own status. */
function openDependencies(world: World, task: Task): string[] {
  return task.dependencies.filter((id) => {
    const status = world.tasks.find((other) => other.id === id)?.status;
    if (status === 'failed') return task.onDependencyFailure !== 'proceed';
    return status === 'pending' || status === 'in_progress';
  });
}

export function isBlocked(world: World, task: Task): boolean {
  return task.status === 'pending' && openDependencies(world, task).length > 0;
}

/** The task that a member would get if it claimed any task. */
export function nextTask(world: World, memberId: string): Task | undefined {
  const ready = world.tasks.filter((task) => task.status === 'pending' && !isBlocked(world, task));
  const own = ready.filter((task) => task.assigneeId === memberId);
  const candidates = own.length > 0 ? own : ready.filter((task) => task.assigneeId === undefined);
  const rank = (task: Task) => ['critical', 'high', 'medium', 'low'].indexOf(task.priority);
  return candidates.sort((a, b) => rank(a) - rank(b) || Number(a.id) - Number(b.id))[0];
}

/** Whether a member is live, or stopped and will return. */
export function isExpected(member: Member): boolean {
  return member.status !== 'stopped' || member.returning === true;
}

/** Everything visible of a team. */
export function observeWorld(world: World): object {
  const { team } = world;
  const lead = world.members.filter(({ id }) => id === team?.leadId);
  const others = world.members.filter(({ id }) => id !== team?.leadId);
  return {
    team: team && { ...team, id: TEAM, name: TEAM, teammateMode: 'auto', resolvedBackend: 'in-process' },
    members: [...lead, ...others].map(({ planApproved, ...member }) => ({
      ...member,
      name: member.id,
      role: member.role === 'lead' && member.id !== team?.leadId ? 'teammate' : member.role,
      agentId: `${member.id}@${TEAM}`,
      assignedTasks: world.tasks
        .filter(({ status, assigneeId }) => ['pending', 'in_progress'].includes(status) && assigneeId === member.id)
        .map(({ id }) => id),
      planModeRequired: member.planApprovalRequired && !planApproved,
    })),
    tasks: world.tasks.map((task) => {
      const blockedBy = isBlocked(world, task) ? openDependencies(world, task) : [];
      return {
        ...task,
        teamId: TEAM,
        status: blockedBy.length > 0 ? 'blocked' : task.status,
        blockedBy,
        /** The tasks that an explanation of the blocked status names. */
        named: blockedBy,
        blocks: world.tasks
          .filter((other) => other.status !== 'deleted' && other.dependencies.includes(task.id))
          .map(({ id }) => id),
      };
    }),
    inboxes: world.members.map((member) => {
      const messages = world.messages.filter(({ toId }) => toId === member.id);
      return {
        messages: messages.map((message) => ({ ...message, teamId: TEAM, order: world.messages.indexOf(message) + 1 })),
        waiting: messages
          .filter(({ acknowledgedAt, readAt }) => acknowledgedAt === undefined && readAt === undefined)
          .map(({ id }) => id),
      };
    }),
    requests: world.requests.map((request) => ({ ...request, teamId: TEAM })),
    notes: world.notes.map((note) => ({ ...note, teamId: TEAM })),
    usage: {
      team: sum(world.usages.map(({ usage }) => usage)),
      members: world.members.map(({ id }) => sum(ofMember(world, id))),
      tasks: world.tasks.map(({ id }) => sum(world.usages.filter(({ taskId }) => taskId === id).map((u) => u.usage))),
    },
    nextId: String(world.tasks.length + 1),
  };
}

function ofMember(world: World, memberId: string): Usage[] {
  return world.usages.filter((record) => record.memberId === memberId).map(({ usage }) => usage);
}

function sum(usages: readonly Usage[]): Usage {
  const total = (key: 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'turns' | 'costUsd') =>
    usages.reduce((so, usage) => so + usage[key], 0);
  return {
    inputTokens: total('inputTokens'),
    outputTokens: total('outputTokens'),
    cacheReadTokens: total('cacheReadTokens'),
    cacheWriteTokens: total('cacheWriteTokens'),
    turns: total('turns'),
    costUsd: total('costUsd'),
    estimated: usages.some(({ estimated }) => estimated),
  };
}
