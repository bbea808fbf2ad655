import type { ErrorCode, ErrorFacts } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';

/*
 * The frames of a connection: one JSON object per WebSocket message or per line of the Unix socket. A client's frame
 * calls an operation by its name or by its message type; the answer has the same `id`.
 */

/** The most bytes in a client's frame: 16 times the longest message (64 KiB). */
export const REQUEST_BYTES = 1024 * 1024;

/** What a client sends. */
export interface RequestFrame {
  /** An operation's name or message type, or one of `hello`, `subscribe`, `unsubscribe`, `cancel`, `ping`, `mcp`. */
  readonly type: string;
  readonly id?: string | number;
  readonly payload?: unknown;
  /** The member that a person speaks for. */
  readonly as?: string;
  /** Makes the call idempotent: sent again under the same id, it is done once. */
  readonly commandId?: string;
  /** The span that the call is part of, in W3C Trace Context format; anything else is ignored. */
  readonly traceparent?: string;
}

/** First frame on the Unix socket: the credential. A WebSocket sends it with its upgrade request. */
export interface HelloFrame {
  readonly type: 'hello';
  readonly id?: string | number;
  readonly token: string;
}

/** The payload of `subscribe`: the events after `after`, then new ones. */
export interface Subscription {
  readonly teamId: string;
  readonly after?: number;
  /** From `subscribed`. If another team has the name by now, `after` is invalid there: a `conflict`. */
  readonly stream?: string;
  /** Only `events` frames, without the messages derived from them. */
  readonly only?: 'events';
}

/**
 * The answer to a call by name. A call by message type is answered with that operation's own message, with `more` and
 * `after` as here.
 */
export interface ResultFrame {
  readonly type: 'result';
  readonly id?: string | number;
  readonly result: unknown;
  /** The result is a list with more pages: called again with this `after`, the operation returns the next one. */
  readonly more?: true;
  readonly after?: string | number;
}

/** A refusal. It has no id if the frame had none, or its id could not be read. */
export interface ErrorFrame {
  readonly type: 'error';
  readonly id?: string | number;
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly facts?: ErrorFacts };
}

/** The call still waits. */
export interface ProgressFrame {
  readonly type: 'progress';
  readonly id: string | number;
  readonly message: string;
}

/** A remark on the answer to a call, which follows. */
export interface NoticeFrame {
  readonly type: 'notice';
  /** The id of the call. */
  readonly about: string | number;
  readonly message: string;
}

/** A batch of a subscribed team. `seq` is the cursor for resuming after a lost connection. */
export interface EventsFrame {
  readonly type: 'events';
  readonly teamId: string;
  readonly seq: number;
  readonly events: readonly TeamEvent[];
}

/** The subscription is active; `seq` is the team's last batch at that time. */
export interface SubscribedFrame {
  readonly type: 'subscribed';
  readonly id?: string | number;
  readonly teamId: string;
  readonly seq: number;
  /** Distinguishes teams that had this name one after another. */
  readonly stream: string;
}

/** The daemon stopped sending because the client did not read: reconnect and subscribe after these cursors. */
export interface CutFrame {
  readonly type: 'cut';
  readonly cursors: Readonly<Record<string, number>>;
}

/** What the daemon sends, apart from the messages that are derived from events. */
export type DaemonFrame =
  | ResultFrame
  | ErrorFrame
  | ProgressFrame
  | NoticeFrame
  | EventsFrame
  | SubscribedFrame
  | CutFrame;

/** Whether this is the input of a call that waits for something. */
export function isWaiting(input: unknown): boolean {
  const wait = (input as { wait?: unknown } | null | undefined)?.wait;
  return typeof wait === 'number' && wait > 0;
}
