import type { Caller } from '../operations/caller.ts';
import type { ProgressFrame, RequestFrame } from '../operations/frames.ts';
import type { Cursor, Operation } from '../operations/operation.ts';
import type { Release } from '../runtime/semaphore.ts';
import type { Hub } from './hub.ts';
import type { Outbox } from './outbox.ts';
import { errorFrame, resultFrame } from './read-frame.ts';
import type { Share } from './share.ts';

/** The session of a call. */
export interface Calling {
  readonly hub: Hub;
  readonly caller: Caller;
  readonly share: Share;
  readonly outbox: Outbox;
  /** Whether the client is gone. */
  readonly isOver: () => boolean;
  /** Its answer is in the outbox. */
  readonly ended: (begun: Begun) => void;
}

/** A call that waits for something to happen. It can be cancelled, and their number is limited. */
export interface Waiting {
  readonly controller: AbortController;
  readonly release: Release;
}

/** A call that is under way. */
export interface Begun {
  readonly key: Key;
  readonly operation: Operation | undefined;
  readonly waiting?: Waiting | undefined;
  /** Called when the answer is in the outbox, or never will be. */
  readonly onSaid?: () => void;
}

/** What tells the calls of a session apart. */
export type Key = NonNullable<RequestFrame['id']> | symbol | undefined;

/** Only calls that wait for something to happen can be cancelled. The others end at once. */
const NEVER = new AbortController().signal;

/** Performs a call, and says its result once there is room for it. Not `async`: see `answer` in `session.ts`. */
export function performCall(
  { hub, caller, share, outbox, isOver, ended }: Calling,
  { type, id, payload, as, commandId, traceparent }: RequestFrame,
  begun: Begun,
): void {
  const { operation, waiting } = begun;
  let { onSaid } = begun;
  let after: Cursor | undefined;
  /** Called with whether the result was sent, if something depends on it. */
  let hear: ((isHeard: boolean) => void) | undefined;
  const say = (text: string): void => {
    waiting?.release();
    outbox.send(text, hear);
    onSaid?.();
    ended(begun);
  };
  const refuse = (error: unknown): void => say(errorFrame(id, hub.asTeamError(error)));
  const tell = (result: unknown): void => {
    // The client is gone. Writing 256 long results for nobody would delay everybody else for seconds.
    if (isOver()) {
      hear?.(false);
      return onSaid?.();
    }
    if (waiting && operation?.long && !onSaid) {
      return void hub.takeLongAnswer(share).then((fetched) => {
        onSaid = () => outbox.whenRead(fetched);
        tell(result);
      });
    }
    // Until there is room, the answer is not even written as text. So at most one answer waits, however long it is.
    if (outbox.isBusy) return void outbox.whenFree().then(() => tell(result));
    let text: string;
    try {
      text = resultFrame(operation, type, id, result, after);
    } catch (error) {
      hear?.(false);
      hear = undefined;
      return refuse(error);
    }
    say(text);
  };
  const called = hub.call(type, {
    caller,
    input: payload,
    as,
    commandId,
    // The frame's reader has not checked this field.
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    signal: waiting?.controller.signal ?? NEVER,
    progress(message) {
      if (id === undefined || isOver()) return;
      outbox.send(JSON.stringify({ type: 'progress', id, message } satisfies ProgressFrame));
    },
    more(next) {
      after = next;
    },
    whenAnswered: waiting && hub.whenAnswered((heard) => (hear = heard)),
    notice(message) {
      if (id !== undefined && !isOver()) outbox.send(JSON.stringify({ type: 'notice', about: id, message }));
    },
  });
  called.then(tell, refuse);
}
