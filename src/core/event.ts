import type { z } from 'zod';
import type { ACCOUNT_EVENT_DATA } from './account.ts';
import type { Actor } from './actor.ts';
import type { HOOK_EVENT_DATA } from './hook.ts';
import type { MEMBER_EVENT_DATA } from './member.ts';
import type { MESSAGE_EVENT_DATA } from './message.ts';
import type { NOTE_EVENT_DATA } from './note.ts';
import type { REQUEST_EVENT_DATA } from './request.ts';
import type { TASK_EVENT_DATA } from './task-events.ts';
import type { TEAM_EVENT_DATA } from './team.ts';
import type { TIP_EVENT_DATA } from './tip.ts';
import type { USAGE_EVENT_DATA } from './usage.ts';
import type { WORK_EVENT_DATA } from './work.ts';

/** The schemas of all events, in the files of their nouns. Only types are imported: events load no schema. */
type Schemas = typeof TEAM_EVENT_DATA &
  typeof HOOK_EVENT_DATA &
  typeof MEMBER_EVENT_DATA &
  typeof TASK_EVENT_DATA &
  typeof WORK_EVENT_DATA &
  typeof TIP_EVENT_DATA &
  typeof MESSAGE_EVENT_DATA &
  typeof REQUEST_EVENT_DATA &
  typeof NOTE_EVENT_DATA &
  typeof USAGE_EVENT_DATA &
  typeof ACCOUNT_EVENT_DATA;

/** The data of each event, besides its envelope. Plain JSON: an event on disk is the event in memory. */
export type EventData = { [T in keyof Schemas]: DataOf<z.output<Schemas[T]>> };

/** An event without data of its own allows the fields of the envelope. */
type DataOf<Output> = Output extends Record<string, never> ? object : Output;

/** The name of an event. */
export type EventType = keyof EventData;

type NounIn<Type extends string> = Type extends `${infer Noun}:${string}` ? Noun : never;

/** What an event is about: the first word of its name. A `Record` of them does not compile if one is missing. */
export type EventNoun = NounIn<EventType>;

/** The noun of an event. */
export function nounOf({ type }: { readonly type: EventType }): EventNoun {
  return type.slice(0, type.indexOf(':')) as EventNoun;
}

/** Fields of every event: when, by whom, and the id of its command. */
export interface Envelope {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly by: Actor;
  readonly cause?: string | undefined;
  /** On the first event of a command with an id: the command's fingerprint, to detect another command under that id. */
  readonly print?: string | undefined;
}

/** One event of the given type. */
export type EventOf<T extends EventType> = { readonly type: T } & Envelope & Readonly<EventData[T]>;

/** Something that happened to a team. */
export type TeamEvent = { [T in EventType]: EventOf<T> }[EventType];

/** An event that follows from a command. */
export function event<T extends EventType>(
  command: { at: number; by: Actor; commandId?: string | undefined },
  type: T,
  data: EventData[T],
): TeamEvent {
  const { at, by, commandId } = command;
  // The spread comes first: V8 then copies an object as it is, in 0.1 us instead of 0.2.
  return (commandId === undefined
    ? { ...data, type, at, by }
    : { ...data, type, at, by, cause: commandId }) as unknown as TeamEvent;
}
