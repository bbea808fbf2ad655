import type { ErrorCode, ErrorFacts } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';

/*
 * What goes over a connection, one JSON object per WebSocket message or per line of the Unix socket.
 * A frame of the client asks for an operation by its name or by its message type; `id` comes back with the answer.
 */

/** A frame of a client has at most so many bytes: the longest text that an operation takes is a sixteenth of it. */
export const REQUEST_BYTES = 1024 * 1024;

/** What a client sends. */
export interface RequestFrame {
  /** An operation's name or message type, or one of `hello`, `subscribe`, `unsubscribe`, `cancel`, `ping`, `mcp`. */
  readonly type: string;
  readonly id?: string | number;
  readonly payload?: unknown;
  /** The member that a person speaks for. */
  readonly as?: string;
  /** Sent again under the same id, the call is done once. */
  readonly commandId?: string;
  /** The span that it is part of, as W3C Trace Context writes it; whatever is not that is ignored. */
  readonly traceparent?: string;
}

/** First frame on the Unix socket: the credential. A WebSocket shows it with its upgrade request. */
export interface HelloFrame {
  readonly type: 'hello';
  readonly id?: string | number;
  readonly token: string;
}

/** The payload of `subscribe`: what happened after `after`, then what happens. */
export interface Subscription {
  readonly teamId: string;
  readonly after?: number;
  /** As `subscribed` said: if another team has the name by now, that is a `conflict`, as `after` means nothing in it. */
  readonly stream?: string;
  /** Only `events` frames, without the messages that are made from them. */
  readonly only?: 'events';
}

/** What the daemon answers to a call by name. A call by message type is answered with that operation's own message, with `more` and `after` as here. */
export interface ResultFrame {
  readonly type: 'result';
  readonly id?: string | number;
  readonly result: unknown;
  /** The result is a list and not all of it: asked again with this `after`, the operation goes on. */
  readonly more?: true;
  readonly after?: string | number;
}

/** A refusal. Without an id it is about a frame that had none, or none that could be read. */
export interface ErrorFrame {
  readonly type: 'error';
  readonly id?: string | number;
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly facts?: ErrorFacts };
}

/** A call still waits. */
export interface ProgressFrame {
  readonly type: 'progress';
  readonly id: string | number;
  readonly message: string;
}

/** What one should know of the answer to a call, which follows. */
export interface NoticeFrame {
  readonly type: 'notice';
  /** The id of the call. */
  readonly about: string | number;
  readonly message: string;
}

/** A batch of a subscribed team. `seq` is the cursor from which to go on after a lost connection. */
export interface EventsFrame {
  readonly type: 'events';
  readonly teamId: string;
  readonly seq: number;
  readonly events: readonly TeamEvent[];
}

/** The subscription stands; `seq` is where the team was then. */
export interface SubscribedFrame {
  readonly type: 'subscribed';
  readonly id?: string | number;
  readonly teamId: string;
  readonly seq: number;
  /** Which of the teams that had this name one after another. */
  readonly stream: string;
}

/** The daemon stopped sending because the client did not read: reconnect and subscribe after these. */
export interface CutFrame {
  readonly type: 'cut';
  readonly cursors: Readonly<Record<string, number>>;
}

/** Whether the input is that of a call that waits for something to happen. */
export function isWaiting(input: unknown): boolean {
  const wait = (input as { wait?: unknown } | null | undefined)?.wait;
  return typeof wait === 'number' && wait > 0;
}
