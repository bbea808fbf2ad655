import { z } from 'zod';
import { AgentInput, AgentSpec } from './agent.ts';
import { Budget } from './budget.ts';
import { Metadata } from './json.ts';
import { PROMPT_BYTES, RESULT_BYTES } from './limits.ts';
import { ChosenId, Labels, Line, Slug, TaskId, textOf } from './text.ts';
import { Timestamp } from './time.ts';
import { ContextUse } from './usage.ts';

/** What stands where a member has no session. */
export const NO_SESSION = 'none';

/** Where a teammate can be seen. */
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
  /** Why it stopped. */
  stopReason: Line.optional(),
  /** It stopped but will be started again: mail and reserved tasks wait for it. */
  returning: z.boolean().optional(),
  cwd: z.string().optional(),
  backendType: BackendType,
  subscriptions: z.array(Line),
  /** What runs it; absent for members that run themselves. */
  agent: AgentSpec.optional(),
  /** What it may use. */
  budget: Budget.optional(),
  /** The only daemon that may run it, by name. */
  host: Slug.optional(),
  /** What a daemon that may run it must have. */
  labels: z.array(Line).optional(),
  /** The daemon that runs it. */
  hostId: z.string().optional(),
  /** How full its conversation is, where its agent says so. */
  context: ContextUse.optional(),
  /** What it produced before it went idle the last time. */
  lastResult: z.string().optional(),
  metadata: Metadata.optional(),
});
export type TeamMember = z.output<typeof TeamMember>;

/** What a lead says to get a teammate. */
export const SpawnTeammateOptions = z.strictObject({
  name: Slug,
  role: Line.default('teammate'),
  prompt: textOf(PROMPT_BYTES).default(''),
  model: Line.optional(),
  planApprovalRequired: z.boolean().default(false),
  agentType: Line.default('general-purpose'),
});
export type SpawnTeammateOptions = z.output<typeof SpawnTeammateOptions>;

/** A member that joins: what it was spawned with, and what its session is. */
export const JoinInput = SpawnTeammateOptions.extend({
  sessionId: ChosenId.default(NO_SESSION),
  color: Line.optional(),
  cwd: z.string().max(4096).optional(),
  backendType: BackendType.default('in-process'),
  subscriptions: z.array(Line).max(64).default([]),
  status: z.enum(['spawning', 'active', 'idle']).default('active'),
  agent: AgentInput.optional(),
  host: Slug.optional().describe('the daemon that runs it, where several share the journal'),
  labels: Labels.optional().describe('what the daemon that runs it must have'),
  budget: Budget.optional(),
  metadata: Metadata.optional(),
});
export type JoinInput = z.output<typeof JoinInput>;

/** What can change of a member. A change to `idle` carries the result of the work that ended. */
export const ChangeMemberInput = z.strictObject({
  memberId: Slug,
  status: z.enum(['spawning', 'active', 'idle', 'shutting-down']).optional(),
  sessionId: ChosenId.optional(),
  role: Line.optional(),
  model: Line.optional(),
  color: Line.optional(),
  cwd: z.string().max(4096).optional(),
  backendType: BackendType.optional(),
  subscriptions: z.array(Line).max(64).optional(),
  budget: Budget.optional(),
  result: textOf(RESULT_BYTES).optional(),
  reason: Line.optional(),
  metadata: Metadata.optional(),
});
export type ChangeMemberInput = z.output<typeof ChangeMemberInput>;

/** A member that stops. Its tasks go back; with `returning`, those reserved for it stay so. */
export const LeaveInput = z.strictObject({
  memberId: Slug,
  reason: Line.optional(),
  returning: z.boolean().default(false),
  /** Another daemon may have taken it on meanwhile. */
  hostId: ChosenId.optional().describe('only if this daemon runs it'),
});
export type LeaveInput = z.output<typeof LeaveInput>;

/** A daemon takes it upon itself to run a member that waits to be started; only one can. */
export const PlaceMemberInput = z.strictObject({ memberId: Slug, hostId: ChosenId });
export type PlaceMemberInput = z.output<typeof PlaceMemberInput>;
