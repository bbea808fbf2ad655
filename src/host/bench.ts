import type { TaskJson } from '../agents/agent.ts';
import type { Door } from './door.ts';
import type { Mail } from './mail.ts';
import type { Seat } from './seat.ts';

/** A member at work: who it is, where it sits, what comes in for it. */
export interface Bench {
  readonly door: Door;
  readonly who: { readonly teamId: string; readonly memberId: string };
  readonly seat: Seat;
  readonly mail: Mail;
  /** Resolves when a turn may begin: at once, or when the budget was raised. False when it must stop or lost the task first. */
  readonly mayTurn: (task?: TaskJson) => Promise<boolean>;
  /** Waits so many milliseconds. False when it must stop or lost the task first. */
  readonly pause: (ms: number, task?: TaskJson) => Promise<boolean>;
  /** How long to wait for an overloaded model; undefined when it is enough. */
  readonly retryAfter: (attempt: number) => number | undefined;
  /** Tells why it waits and until when, or (undefined) that it no longer does. */
  readonly tellWaiting: (reason: string | undefined, until?: number) => Promise<void>;
  readonly onError: (error: unknown) => void;
}
