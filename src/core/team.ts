import { z } from 'zod';
import { AgentInput } from './agent-input.ts';
import { AgentChoice } from './agent.ts';
import { Budget, Granted } from './budget.ts';
import { ChosenId, Labels, Line, Slug, textOf } from './fields.ts';
import { HookConfig } from './hook.ts';
import { TeamParent } from './inner.ts';
import { Metadata } from './json.ts';
import {
  DEFAULT_TEAMMATES,
  DESCRIPTION_BYTES,
  MAX_MESSAGES_PER_MINUTE,
  MAX_RESTARTS_PER_NIGHT,
  MAX_TEAMMATES,
  PROMPT_BYTES,
} from './limits.ts';
import { NO_SESSION } from './member-marks.ts';
import { BackendType, TeamMember } from './member.ts';
import { OnLimit, OnLimitInput } from './on-limit.ts';
import { Peers } from './peers.ts';
import { WorkQuietHours } from './quiet-hours.ts';
import { TeamWork } from './team-work.ts';
import { Timestamp } from './time.ts';
import { StandingWork, WorkspaceKind } from './work.ts';

/** Where teammates should be visible. */
export const TeammateMode = z.enum(['in-process', 'tmux', 'iterm2', 'auto']);
export type TeammateMode = z.infer<typeof TeammateMode>;

/** The status of a team; a cleaned-up one is read-only. */
export const TeamStatus = z.enum(['creating', 'active', 'shutting-down', 'cleaned-up']);
export type TeamStatus = z.infer<typeof TeamStatus>;

/** A team as the faces show it. `id` is the name. */
export const TeamConfig = z.object({
  id: Slug,
  name: Slug,
  description: z.string(),
  leadId: Slug,
  leadSessionId: z.string(),
  teammateMode: TeammateMode,
  resolvedBackend: BackendType,
  maxTeammates: z.number().int(),
  /** How many messages each member may send; the default if absent. */
  messagesPerMinute: z.number().int().optional(),
  /** How often a member that crashes is restarted in 12 hours; the default if absent. */
  restartsPerNight: z.number().int().optional(),
  /** The teams that it exchanges messages with, if they list it, too. */
  peers: Peers.optional(),
  /** When no turn of its members begins. */
  quietHours: WorkQuietHours.optional(),
  /** What follows when the account of a member reaches its limit: it waits if absent. */
  onLimit: OnLimit.optional(),
  delegateMode: z.boolean(),
  createdAt: Timestamp,
  closedAt: Timestamp.optional(),
  status: TeamStatus,
  members: z.array(TeamMember),
  /** The agents that its lead may start. */
  agents: AgentChoice.optional(),
  /** How much all members together may use. */
  budget: Budget.optional(),
  /** How its members work apart; absent if they share a folder. */
  work: StandingWork.optional(),
  /** The task of another team that it works on. */
  parent: TeamParent.optional(),
  /** In execution order. */
  hooks: z.array(HookConfig),
  metadata: Metadata.optional(),
});
export type TeamConfig = z.output<typeof TeamConfig>;

const MessagesPerMinute = z
  .number()
  .int()
  .min(1)
  .max(MAX_MESSAGES_PER_MINUTE)
  .optional()
  .describe('how many messages each member may send per minute (default: 30)');

/** How often a member that crashes is restarted. */
export const RestartsPerNight = z
  .number()
  .int()
  .min(1)
  .max(MAX_RESTARTS_PER_NIGHT)
  .optional()
  .describe('how often a member that crashes is restarted in 12 hours, before a person is asked (default: 20)');

const QuietHoursOfTeam = WorkQuietHours.optional().describe(
  'when no turn begins, such as 22:00-07:00, in the time zone of the daemon; off: never',
);

/** How many teammates a new team may have. */
export const MaxTeammates = z
  .number()
  .int()
  .min(1)
  .max(MAX_TEAMMATES)
  .default(DEFAULT_TEAMMATES)
  .describe('how many teammates it may have, without the lead');

/** The input that creates a team. */
export const CreateTeamInput = z.strictObject({
  name: Slug.describe('the name: a-z, 0-9, and - or _ inside'),
  description: textOf(DESCRIPTION_BYTES).default('').describe('what the team is for'),
  leadName: Slug.default('lead').describe('the name of its lead'),
  leadSessionId: ChosenId.default(NO_SESSION).describe("the session of the lead's agent"),
  leadAgentType: Line.default('person').describe('what kind of agent the lead is'),
  leadModel: Line.optional().describe('the model the lead runs on'),
  /** What runs the lead; absent if a person leads, or an agent that Troupe does not run. */
  leadAgent: AgentInput.optional().describe('the agent of the lead'),
  /** The lead's goal and instructions. */
  leadPrompt: textOf(PROMPT_BYTES).optional().describe('the goal of the lead'),
  leadHost: Slug.optional().describe('the name of the only daemon that may run the lead'),
  leadWorkspace: WorkspaceKind.optional().describe(
    "shared: the lead works in the team's folder, not in a workspace of its own",
  ),
  leadLabels: Labels.optional().describe('labels that the daemon of the lead must have'),
  agents: AgentChoice.optional().describe('agents that the lead may start'),
  budget: Budget.optional().describe('the budget'),
  cwd: z.string().max(4096).optional().describe('the directory it works in'),
  teammateMode: TeammateMode.default('auto').describe('the terminal in which to show teammates'),
  resolvedBackend: BackendType.default('in-process').describe('the terminal that shows teammates now'),
  maxTeammates: MaxTeammates,
  messagesPerMinute: MessagesPerMinute,
  peers: Peers.optional(),
  restartsPerNight: RestartsPerNight,
  quietHours: QuietHoursOfTeam,
  onLimit: OnLimitInput.optional().describe(
    'when the account of a member reaches its limit: wait, ask, or {"fallback":["codex"]}',
  ),
  delegateMode: z.boolean().default(false).describe('the lead only coordinates'),
  metadata: Metadata.optional().describe('your own data'),
});
export type CreateTeamInput = z.output<typeof CreateTeamInput>;

/** The fields of a team that can be changed. A new `leadId` replaces the lead; nothing is lost. */
export const UpdateTeamInput = z.strictObject({
  description: textOf(DESCRIPTION_BYTES).optional().describe('what the team is for'),
  leadId: Slug.optional().describe('the new lead'),
  leadSessionId: ChosenId.optional().describe("the session of the lead's agent"),
  maxTeammates: z
    .number()
    .int()
    .min(1)
    .max(MAX_TEAMMATES)
    .optional()
    .describe('how many teammates it may have, without the lead'),
  messagesPerMinute: MessagesPerMinute,
  peers: Peers.optional(),
  restartsPerNight: RestartsPerNight,
  quietHours: QuietHoursOfTeam,
  onLimit: OnLimitInput.optional().describe(
    'when the account of a member reaches its limit: wait, ask, or {"fallback":["codex"]}',
  ),
  delegateMode: z.boolean().optional().describe('the lead only coordinates'),
  agents: AgentChoice.optional().describe('agents that the lead may start'),
  budget: Budget.optional().describe('the budget'),
  status: z.enum(['active', 'shutting-down']).optional().describe('the new status'),
  metadata: Metadata.optional().describe('your own data'),
});
export type UpdateTeamInput = z.output<typeof UpdateTeamInput>;

/** Closes a team. With live teammates it must be forced; they are stopped then. */
export const CloseTeamInput = z.strictObject({
  force: z.boolean().default(false).describe('even with live teammates'),
});
export type CloseTeamInput = z.output<typeof CloseTeamInput>;

/** The data of each event about a team. */
export const TEAM_EVENT_DATA = {
  'team:created': z.object({
    name: z.string(),
    description: z.string(),
    leadId: z.string(),
    leadSessionId: z.string(),
    teammateMode: TeammateMode,
    resolvedBackend: BackendType,
    maxTeammates: z.number().int(),
    messagesPerMinute: z.number().int().optional(),
    peers: z.array(z.string()).optional(),
    restartsPerNight: z.number().int().optional(),
    quietHours: WorkQuietHours.optional(),
    onLimit: OnLimit.optional(),
    delegateMode: z.boolean(),
    agents: AgentChoice.optional(),
    budget: Budget.optional(),
    work: TeamWork.optional(),
    parent: TeamParent.optional(),
    metadata: Metadata.optional(),
  }),
  'team:updated': z.object({
    description: z.string().optional(),
    leadId: z.string().optional(),
    leadSessionId: z.string().optional(),
    maxTeammates: z.number().int().optional(),
    messagesPerMinute: z.number().int().optional(),
    peers: z.array(z.string()).optional(),
    restartsPerNight: z.number().int().optional(),
    quietHours: WorkQuietHours.optional(),
    onLimit: OnLimit.optional(),
    delegateMode: z.boolean().optional(),
    agents: AgentChoice.optional(),
    budget: Budget.optional(),
    /** The part of the new budget that people granted when they were asked. */
    granted: Granted.optional(),
    work: TeamWork.optional(),
    status: TeamStatus.optional(),
    metadata: Metadata.optional(),
  }),
  'team:closed': z.object({}),
} as const;
