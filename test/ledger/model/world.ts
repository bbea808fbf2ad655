import type { AccountLimit, AccountWindow, PastLimit } from '../../../src/core/account.ts';
import type { Actor } from '../../../src/core/actor.ts';
import type { AgentSpec } from '../../../src/core/agent.ts';
import type { HookConfig } from '../../../src/core/hook.ts';
import type { Metadata } from '../../../src/core/json.ts';
import type { TeammateStatus } from '../../../src/core/member.ts';
import type { MessageType } from '../../../src/core/message.ts';
import type { OnLimit } from '../../../src/core/on-limit.ts';
import type { Question } from '../../../src/core/question.ts';
import type { RequestStatus, TeamRequest } from '../../../src/core/request.ts';
import type { TaskRecord } from '../../../src/core/state.ts';
import type { TeamStatus } from '../../../src/core/team.ts';
import type { Usage } from '../../../src/core/usage.ts';
import type { StandingWork, WorkspaceKind } from '../../../src/core/work.ts';

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
  peers?: string[] | undefined;
  delegateMode: boolean;
  createdAt: number;
  closedAt?: number;
  status: TeamStatus;
  hooks: HookConfig[];
  onLimit?: OnLimit | undefined;
  work?: StandingWork | undefined;
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
  workspace?: WorkspaceKind | undefined;
  backendType: string;
  agent?: AgentSpec | undefined;
  hostId?: string;
  account?: string | undefined;
  onLimit?: OnLimit | undefined;
  joinedAt: number;
  stoppedAt?: number;
  stopReason?: string | undefined;
  returning?: boolean | undefined;
  lastResult?: string | undefined;
  metadata?: Metadata | undefined;
}

/** The fields of a task are given; the rules say what they mean. Only hooks and bridges set those that are omitted. */
export type Task = WithNumbers<Omit<TaskRecord, 'teamId' | 'unjudged' | 'withheld'>>;

/** A record whose times are numbers. */
type WithNumbers<T> = { [K in keyof T]: NonNullable<T[K]> extends Date ? number | Extract<T[K], undefined> : T[K] };

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
  question?: Question | undefined;
  choice?: string | undefined;
  grants?: number | undefined;
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

/** An account as it was last described. */
export interface ModelAccount {
  id: string;
  at: number;
  windows: AccountWindow[];
  limit?: AccountLimit;
  limitAt?: number;
  freed?: { at: number; waited: number };
  past?: PastLimit[];
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
  /** What was said of each two tasks under their epochs: the last picture, all that was told, and how often. */
  overlaps: { tasks: string; last: string; paths: string[]; conflicts: string[]; times: number }[];
  accounts: ModelAccount[];
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
    overlaps: [],
    accounts: [],
    usages: [],
    receipts: [],
  };
}

/** Whether a member is live, or stopped and will return. */
export function isExpected(member: Member): boolean {
  return member.status !== 'stopped' || member.returning === true;
}
