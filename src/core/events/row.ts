import type { EventOf, EventType } from '../event.ts';

/*
 * What every part of Troupe has to know about an event, apart from its data (`event.ts`) and its effect (`facts/`). A
 * new event, or a new column, does not compile before each row says all of it.
 */

/** An event as text, for display. `${actor} ${text}` is a sentence. */
export interface EventWords {
  /** Who acted: a member, `@user`, `@system`, or a gate by its name. Or the task that something happened to. */
  readonly actor: string;
  readonly text: string;
  /** A short reason; follows after a colon. */
  readonly reason?: string | undefined;
  /** The message or result, which may be long. */
  readonly content?: string | undefined;
  readonly tone?: 'good' | 'bad' | 'notable' | 'quiet';
}

/** How a text names a task. */
export type NameTask = (id: string) => string;

/** The facts about one type of event. */
export interface EventRow<T extends EventType> {
  /** Whether it wakes a member that waits: work that may have become claimable, mail, an answer, the end. */
  readonly wakes: (event: EventOf<T>, memberId: string) => boolean;
  /** How the time line of the dashboard marks it. Null for events that people do not look for. */
  readonly mark: EventMark | null;
  readonly words: (event: EventOf<T>, task: NameTask) => EventWords;
}

/** The marks of the time line. Completed and failed work look different. */
export type EventMark = 'message' | 'claim' | 'gate' | 'state' | 'done' | 'fail';

/** The name of an event about a task. */
export type TaskEventType = Extract<EventType, `task:${string}`>;

/** The facts about one type of event about a task. */
export interface TaskEventRow<T extends TaskEventType> extends EventRow<T> {
  /** The name under which the task list of the library emits it. */
  readonly told: TaskNews;
  /** Whether the holder of the task has it no longer. */
  readonly letsGo: boolean;
}

/** The events that the task list of the library emits. */
export type TaskNews = Extract<
  TaskEventType,
  `task:${'created' | 'claimed' | 'updated' | 'completed' | 'failed' | 'released' | 'unblocked'}`
>;

export const everybody = (): boolean => true;
export const nobody = (): boolean => false;
export const itsMember = (event: { readonly memberId: string }, memberId: string): boolean =>
  event.memberId === memberId;
