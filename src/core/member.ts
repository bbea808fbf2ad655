import { z } from 'zod';
import { AccountId } from './account.ts';
import { AgentInput } from './agent-input.ts';
import { AgentSpec } from './agent.ts';
import { Budget, Granted } from './budget.ts';
import { ChosenId, Labels, Line, Slug, TaskId, textOf } from './fields.ts';
import { InnerTeam } from './inner.ts';
import { Metadata } from './json.ts';
import { PROMPT_BYTES, RESULT_BYTES } from './limits.ts';
import { NO_SESSION } from './member-marks.ts';
import { OnLimit, OnLimitInput, StandIn } from './on-limit.ts';
import { WorkQuietHours } from './quiet-hours.ts';
import { Timestamp } from './time.ts';
import { ContextUse } from './usage.ts';
import { WorkspaceKind } from './work.ts';

/** Where a teammate is visible. */
export const BackendType = z.enum(['tmux', 'iterm2', 'in-process', 'subprocess']);
export type BackendType = z.infer<typeof BackendType>;

/** What a member is doing. */
export const TeammateStatus = z.enum(['spawning', 'active', 'idle', 'shutting-down', 'stopped']);
export type TeammateStatus = z.infer<typeof TeammateStatus>;

/** A member as the faces show it. `id` is the name; `agentId` is `name@team`. */
export const TeamMember = z.object({
  id: Slug,
  name: Slug,
  agentId: z.string(),
  sessionId: z.string(),
  role: Line,
  agentType: Line,
  status: TeammateStatus,
  /** Since when it has this status. */
  statusSince: Timestamp,
  /** Open tasks that it holds or that are reserved for it. Derived. */
  assignedTasks: z.array(TaskId),
  spawnPrompt: z.string().optional(),
  /** Its plan must be approved before it may change anything. */
  planApprovalRequired: z.boolean(),
  /** It has no approved plan yet, so it may only read. Derived. */
  planModeRequired: z.boolean(),
  model: Line.optional(),
  color: Line.optional(),
  joinedAt: Timestamp,
  stoppedAt: Timestamp.optional(),
  /** Why it stopped, in words; `SHUTDOWN` if it agreed to. */
  stopReason: Line.optional(),
  /** It stopped but will be started again: mail and reserved tasks wait for it. */
  returning: z.boolean().optional(),
  cwd: z.string().optional(),
  /** `own`: it works in a workspace of its own, and what it completes lands on the team's branch. */
  workspace: WorkspaceKind.optional(),
  backendType: BackendType,
  /** What runs it; absent for members that run themselves. */
  agent: AgentSpec.optional(),
  /** How much it may use. */
  budget: Budget.optional(),
  /** When no turn of it begins; those of its team if absent. */
  quietHours: WorkQuietHours.optional(),
  /** What follows when its account reaches its limit; that of its team if absent. */
  onLimit: OnLimit.optional(),
  /** What the turns of its fallbacks would be charged to, by their names, as its process names it. */
  fallbackAccounts: z.record(z.string(), AccountId).optional(),
  /** The fallback that it works with now: `agent` is that one's. */
  standIn: StandIn.optional(),
  /** The only daemon that may run it, by name. */
  host: Slug.optional(),
  /** Labels that a daemon needs to run it. */
  labels: z.array(Line).optional(),
  /** The daemon that runs it. */
  hostId: z.string().optional(),
  /** What its turns are charged to, as its process names it. */
  account: AccountId.optional(),
  /** How full its context window is, if its agent reports that. */
  context: ContextUse.optional(),
  /** The result of its work before it last went idle. */
  lastResult: z.string().optional(),
  metadata: Metadata.optional(),
});
export type TeamMember = z.output<typeof TeamMember>;

/** The input with which a lead starts a teammate. */
export const SpawnTeammateOptions = z.strictObject({
  name: Slug.describe('the name: a-z, 0-9, and - or _ inside'),
  role: Line.default('teammate').describe('its role, in a few words'),
  prompt: textOf(PROMPT_BYTES).default('').describe('the instructions it starts with'),
  model: Line.optional().describe('the model its agent runs on'),
  planApprovalRequired: z.boolean().default(false).describe('its plan must be approved before it may change anything'),
  agentType: Line.default('general-purpose').describe('what kind of agent it is'),
});
export type SpawnTeammateOptions = z.output<typeof SpawnTeammateOptions>;

const QuietHoursOfMember = WorkQuietHours.optional().describe(
  "when no turn of it begins, such as 22:00-07:00; off: also in its team's quiet hours",
);

const OnLimitOfMember = OnLimitInput.optional().describe(
  'when its account reaches its limit: wait, ask, or {"fallback":["codex"]}',
);

/** A member that joins: its spawn options and its session. */
export const JoinInput = SpawnTeammateOptions.extend({
  sessionId: ChosenId.default(NO_SESSION).describe("the session of the member's agent"),
  color: Line.optional().describe('the colour it is shown in'),
  cwd: z.string().max(4096).optional().describe('the directory it works in'),
  workspace: WorkspaceKind.optional().describe(
    "shared: it works in the team's folder, not in a workspace of its own; own: also for claude-native",
  ),
  backendType: BackendType.default('in-process').describe('the terminal that shows it'),
  status: z.enum(['spawning', 'active', 'idle']).default('active').describe('how it starts'),
  agent: AgentInput.optional().describe('its agent'),
  host: Slug.optional().describe('the daemon that runs it, if several share the journal'),
  labels: Labels.optional().describe('labels that its daemon must have'),
  budget: Budget.optional().describe('the budget'),
  quietHours: QuietHoursOfMember,
  onLimit: OnLimitOfMember,
  metadata: Metadata.optional().describe('your own data'),
});
export type JoinInput = z.output<typeof JoinInput>;

/** The fields of a member that can change. A change to `idle` carries the result of the finished work. */
export const ChangeMemberInput = z.strictObject({
  memberId: Slug.describe('the member'),
  status: z.enum(['spawning', 'active', 'idle', 'shutting-down']).optional().describe('the new status'),
  sessionId: ChosenId.optional().describe("the session of the member's agent"),
  role: Line.optional().describe('its role, in a few words'),
  model: Line.optional().describe('the model its agent runs on'),
  color: Line.optional().describe('the colour it is shown in'),
  cwd: z.string().max(4096).optional().describe('the directory it works in'),
  backendType: BackendType.optional().describe('the terminal that shows it'),
  budget: Budget.optional().describe('the budget'),
  quietHours: QuietHoursOfMember,
  onLimit: OnLimitOfMember,
  account: AccountId.optional().describe('what its turns are charged to'),
  fallbackAccounts: z
    .record(z.string().max(130), AccountId)
    .refine((accounts) => Object.keys(accounts).length <= 16, 'are too many')
    .optional()
    .describe('what the turns of its fallbacks would be charged to, by their names'),
  result: textOf(RESULT_BYTES).optional().describe('its result before it became idle'),
  interrupted: Line.optional().describe('why its turn was ended that is now done again, such as a silence'),
  reason: Line.optional().describe('why'),
  metadata: Metadata.optional().describe('your own data'),
});
export type ChangeMemberInput = z.output<typeof ChangeMemberInput>;

/** A member that stops. Its tasks are released; with `returning`, reserved tasks stay reserved. */
export const LeaveInput = z.strictObject({
  memberId: Slug.describe('the member'),
  reason: Line.optional().describe('why'),
  returning: z.boolean().default(false).describe('whether it will be restarted; then its reservations stay'),
  /** Another daemon may run it by now. */
  hostId: ChosenId.optional().describe('only if this daemon runs it'),
});
export type LeaveInput = z.output<typeof LeaveInput>;

/** A daemon takes a member that waits to be started; only one daemon can win. */
export const PlaceMemberInput = z.strictObject({ memberId: Slug, hostId: ChosenId });
export type PlaceMemberInput = z.output<typeof PlaceMemberInput>;

/** The data of each event about a member. */
export const MEMBER_EVENT_DATA = {
  'teammate:joined': z.object({
    memberId: z.string(),
    sessionId: z.string(),
    role: z.string(),
    agentType: z.string(),
    status: TeammateStatus,
    spawnPrompt: z.string().optional(),
    planApprovalRequired: z.boolean(),
    model: z.string().optional(),
    color: z.string().optional(),
    cwd: z.string().optional(),
    workspace: WorkspaceKind.optional(),
    backendType: BackendType,
    agent: AgentSpec.optional(),
    host: z.string().optional(),
    labels: z.array(z.string()).optional(),
    budget: Budget.optional(),
    quietHours: WorkQuietHours.optional(),
    onLimit: OnLimit.optional(),
    metadata: Metadata.optional(),
  }),
  'teammate:changed': z.object({
    memberId: z.string(),
    status: TeammateStatus.optional(),
    sessionId: z.string().optional(),
    role: z.string().optional(),
    model: z.string().optional(),
    color: z.string().optional(),
    cwd: z.string().optional(),
    backendType: BackendType.optional(),
    budget: Budget.optional(),
    granted: Granted.optional(),
    quietHours: WorkQuietHours.optional(),
    onLimit: OnLimit.optional(),
    account: z.string().optional(),
    fallbackAccounts: z.record(z.string(), z.string()).optional(),
    /** The member is a team, and a person brought another text of its file up. */
    innerTeam: InnerTeam.optional(),
    /** Its turn was ended without asking anybody, and is done again. */
    interrupted: z.string().optional(),
    metadata: Metadata.optional(),
  }),
  /** It goes on with another agent; without `standIn`, with its own again. */
  'teammate:switched': z.object({
    memberId: z.string(),
    agent: AgentSpec,
    sessionId: z.string(),
    model: z.string().optional(),
    account: z.string().optional(),
    standIn: StandIn.optional(),
  }),
  /** A daemon took the member, to run it. */
  'teammate:placed': z.object({ memberId: z.string(), hostId: z.string() }),
  'teammate:idle': z.object({
    memberId: z.string(),
    reason: z.string().optional(),
    result: z.string().optional(),
  }),
  'teammate:stopped': z.object({
    memberId: z.string(),
    reason: z.string().optional(),
    returning: z.boolean().optional(),
  }),
} as const;
