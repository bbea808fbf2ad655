import type { AgentEvent, LimitWindow, Mode, Permission } from '../agents/agent.ts';
import type { ContextUse, Usage } from '../core/usage.ts';

/** Handles the events of a session other than the ends of turns. */
export interface Hearing {
  /** Any event, before it is handled. */
  heard(event: AgentEvent): void;
  shown(messageIds: readonly string[]): Promise<void>;
  usage(usage: Usage, taskId: string | undefined, context?: ContextUse): Promise<void>;
  /** Asks whoever may answer; in `plan` and `delegate` everything is refused. */
  permission(permission: Permission, mode: Mode): void;
  /** The agent compacted its conversation: it may have forgotten its team. */
  compacted(): void;
  /** The model makes it wait, or (undefined) no longer does. */
  waiting(reason: string | undefined, until?: number): Promise<void>;
  /** A turn begins. */
  begun(): void;
  /** Its model answered with a text or a tool call. */
  answered(): Promise<void>;
  /** Its provider says how far the windows of its account are used up. */
  limits(windows: readonly LimitWindow[]): Promise<void>;
  /** The agent works in this session from now on. */
  opened(sessionId: string): Promise<void>;
  failed(error: unknown): void;
}
