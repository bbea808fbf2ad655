import type { TaskJson } from '../agents/agent.ts';
import type { OwnAccount, Waiting } from './account.ts';
import type { Conversation } from './conversation.ts';
import type { Door } from './door.ts';
import type { TurnGuard } from './interruptions.ts';
import type { Mail } from './mail.ts';

/** A member at work: its identity, its conversation and its messages. */
export interface Bench {
  readonly door: Door;
  readonly who: { readonly teamId: string; readonly memberId: string };
  readonly conversation: Conversation;
  readonly mail: Mail;
  /**
   * Resolves when a turn may begin: at once, after the budget was raised, or when its account can be used again. False
   * if it must stop or lost the task.
   */
  readonly mayTurn: (task?: TaskJson) => Promise<boolean>;
  /** Waits this many milliseconds. False if it must stop or lost the task. */
  readonly pause: (ms: number, task?: TaskJson) => Promise<boolean>;
  /** Resolves when no question of the member about this task is open. False if it must stop or lost the task. */
  readonly answered: (task: TaskJson) => Promise<boolean>;
  /** What may end a running turn: silence, and a budget that is used up. */
  readonly guards: readonly TurnGuard[];
  readonly account: OwnAccount;
  /** Why its first turn begins with a handover; nothing after that turn. */
  readonly handover: { why?: string | undefined };
  /** Reports why it waits and until when, or (undefined) that it no longer does. */
  readonly tellWaiting: (waiting: Waiting | undefined) => Promise<void>;
  /** It works in a workspace of its own, which is brought to the branch before a task and saved after each turn. */
  readonly worksApart: boolean;
  /** Aborts when it must stop at once. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}
