import { z } from 'zod';
import { AgentChoice, AgentInput } from './agent.ts';
import { Budget } from './budget.ts';
import { HookConfig } from './hook.ts';
import { Metadata } from './json.ts';
import {
  DEFAULT_TEAMMATES,
  DESCRIPTION_BYTES,
  MAX_MESSAGES_PER_MINUTE,
  MAX_TEAMMATES,
  PROMPT_BYTES,
} from './limits.ts';
import { BackendType, NO_SESSION, TeamMember } from './member.ts';
import { ChosenId, Labels, Line, Slug, textOf } from './text.ts';
import { Timestamp } from './time.ts';

/** Where teammates should show themselves. */
export const TeammateMode = z.enum(['in-process', 'tmux', 'iterm2', 'auto']);
export type TeammateMode = z.infer<typeof TeammateMode>;

/** The life of a team; a cleaned-up one can only be read. */
export const TeamStatus = z.enum(['creating', 'active', 'shutting-down', 'cleaned-up']);
export type TeamStatus = z.infer<typeof TeamStatus>;

/** A team as its faces show it. `id` is the name. */
export const TeamConfig = z.object({
  id: Slug,
  name: Slug,
  description: z.string(),
  leadId: Slug,
  leadSessionId: z.string(),
  teammateMode: TeammateMode,
  resolvedBackend: BackendType,
  maxTeammates: z.number().int(),
  /** What each member may send; absent means the default. */
  messagesPerMinute: z.number().int().optional(),
  delegateMode: z.boolean(),
  createdAt: Timestamp,
  closedAt: Timestamp.optional(),
  status: TeamStatus,
  members: z.array(TeamMember),
  /** Whom its lead may bring in. */
  agents: AgentChoice.optional(),
  /** What all members together may use. */
  budget: Budget.optional(),
  /** In the order in which they run. */
  hooks: z.array(HookConfig),
  metadata: Metadata.optional(),
});
export type TeamConfig = z.output<typeof TeamConfig>;

/** What one says to create a team. */
export const CreateTeamInput = z.strictObject({
  name: Slug,
  description: textOf(DESCRIPTION_BYTES).default(''),
  leadName: Slug.default('lead'),
  leadSessionId: ChosenId.default(NO_SESSION),
  leadAgentType: Line.default('person'),
  leadModel: Line.optional(),
  /** What runs the lead; absent when a person leads, or an agent that somebody else runs. */
  leadAgent: AgentInput.optional(),
  /** What the lead is to achieve, and how. */
  leadPrompt: textOf(PROMPT_BYTES).optional(),
  leadHost: Slug.optional().describe('the only daemon that may run the lead, by name'),
  leadLabels: Labels.optional().describe('what a daemon that may run the lead must have'),
  agents: AgentChoice.optional(),
  budget: Budget.optional(),
  cwd: z.string().max(4096).optional(),
  teammateMode: TeammateMode.default('auto'),
  resolvedBackend: BackendType.default('in-process'),
  maxTeammates: z.number().int().min(1).max(MAX_TEAMMATES).default(DEFAULT_TEAMMATES),
  messagesPerMinute: z.number().int().min(1).max(MAX_MESSAGES_PER_MINUTE).optional(),
  delegateMode: z.boolean().default(false),
  metadata: Metadata.optional(),
});
export type CreateTeamInput = z.output<typeof CreateTeamInput>;

/** What can be changed of a team. A new `leadId` replaces the lead; nothing is lost by it. */
export const UpdateTeamInput = z.strictObject({
  description: textOf(DESCRIPTION_BYTES).optional(),
  leadId: Slug.optional(),
  leadSessionId: ChosenId.optional(),
  maxTeammates: z.number().int().min(1).max(MAX_TEAMMATES).optional(),
  messagesPerMinute: z.number().int().min(1).max(MAX_MESSAGES_PER_MINUTE).optional(),
  delegateMode: z.boolean().optional(),
  agents: AgentChoice.optional(),
  budget: Budget.optional(),
  status: z.enum(['active', 'shutting-down']).optional(),
  metadata: Metadata.optional(),
});
export type UpdateTeamInput = z.output<typeof UpdateTeamInput>;

/** Closing a team that still has live teammates must be forced; they are then stopped. */
export const CloseTeamInput = z.strictObject({ force: z.boolean().default(false) });
export type CloseTeamInput = z.output<typeof CloseTeamInput>;
