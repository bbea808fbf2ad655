import { TeamError } from '../core/errors.ts';
import { isWaiting } from '../operations/frames.ts';
import type { CutFrame, RequestFrame } from '../operations/frames.ts';
import { findOperation } from '../operations/index.ts';
import type { Operation } from '../operations/operation.ts';
import type { Connected, Hub } from './hub.ts';
import { openIntake } from './intake.ts';
import type { Line } from './line.ts';
import { openMcpLines } from './mcp-lines.ts';
import type { McpLines } from './mcp-lines.ts';
import { openOutbox } from './outbox.ts';
import { performCall } from './perform-call.ts';
import type { Begun, Calling, Key, Waiting } from './perform-call.ts';
import { cancelledId, errorFrame, readFrame, resultFrame, UnreadableFrame } from './read-frame.ts';
import { tooManyWait } from './share.ts';
import type { Share } from './share.ts';
import { openSubscriptions, shortCursors } from './subscriptions.ts';

/** One connection with its calls and subscriptions, over any carrier. */
export interface Session extends Connected {
  /** A whole frame came. */
  receive(text: string): void;
  /** The connection was closed. */
  gone(): void;
  /** The client does not read: closes its connection with the cursors from which it can resume. */
  cutOff(): void;
}

/** How long calls under way may take when we end a connection. */
const FAREWELL_MS = 1_000;

/** The client of a session. Its credential was checked, and it has a place. */
export interface Client extends Pick<Connected, 'caller' | 'isValid'> {
  readonly share: Share;
}

/** Begins to serve a client. */
export function openSession(hub: Hub, { caller, isValid, share }: Client, line: Line): Session {
  const { limits } = hub;
  const outbox = openOutbox(line, hub, cutOff);
  const subscriptions = openSubscriptions(hub, caller, outbox);
  /** The calls under way, with the way to cancel those that wait. */
  const calls = new Map<Key, Waiting | undefined>();
  let waitingCalls = 0;
  let unreadable = 0;
  const intake = openIntake(line, { dispatch, isFull, whenRoom, isOver: () => over || isEnding });
  let mcp: McpLines | undefined;
  let isHandingOver = false;
  let isEnding = false;
  let over = false;
  let onDone = (): void => {};
  const calling: Calling = { hub, caller, share, outbox, isOver: () => over, ended: endCall };

  const session: Session = {
    caller,
    isValid,
    speaks: true,

    receive(text) {
      intake.take(text);
    },

    gone() {
      if (over) return;
      finish();
    },

    cutOff,

    async end(ending) {
      if (over || isEnding) return;
      isEnding = true;
      // Further frames are ignored, and must cost nothing.
      line.pause();
      await Promise.race([answersOut(), new Promise((resolve) => setTimeout(resolve, FAREWELL_MS).unref())]);
      if (over) return;
      finish();
      line.close(ending);
    },

    check() {
      if (outbox.isStalled()) cutOff();
    },
  };
  hub.join(session);
  return session;

  function dispatch(text: string): void {
    share.spend(text.length);
    if (mcp) mcp.receive(text);
    else handle(text);
  }

  function handle(text: string): void {
    // Empty lines count too, although they say nothing: a chunk of line ends contains 65,536 of them.
    if (text === '') return;
    const frame = readFrame(text);
    if (frame instanceof UnreadableFrame) return refuseUnreadable(frame);
    unreadable = 0;
    switch (frame.type) {
      case 'ping':
        return outbox.send(JSON.stringify({ type: 'pong', id: frame.id }));
      case 'cancel':
        return calls.get(cancelledId(frame))?.controller.abort();
      case 'subscribe':
        return void subscribe(frame);
      case 'unsubscribe':
        return subscriptions.remove(frame);
      case 'mcp':
        return void handOver(frame);
      case 'hello':
        return outbox.send(errorFrame(frame.id, new TeamError('invalid', 'This connection is already authenticated')));
      default:
        return answer(frame);
    }
  }

  async function handOver({ id, payload }: RequestFrame): Promise<void> {
    // Each MCP server listens to the ledger until it is closed, and a session closes only one.
    if (isHandingOver) return outbox.send(errorFrame(id, new TeamError('invalid', 'Another mcp frame is in progress')));
    isHandingOver = true;
    try {
      const lines = await openMcpLines(hub, { caller, share, outbox, payload });
      if (over) return lines.close();
      outbox.send(resultFrame(undefined, 'mcp', id, {}));
      mcp = lines;
    } catch (error) {
      isHandingOver = false;
      if (!over) outbox.send(errorFrame(id, hub.asTeamError(error)));
    }
  }

  async function subscribe(frame: RequestFrame): Promise<void> {
    const key = Symbol('subscribe');
    calls.set(key, undefined);
    await subscriptions.add(frame);
    ended(key);
  }

  /** Not `async`, and with few promises: every call passes here, and each step that waits costs 1 us. */
  function answer(frame: RequestFrame): void {
    const { type, id } = frame;
    const key = id ?? Symbol('call');
    if (calls.has(key)) {
      const error = new TeamError('invalid', 'Another running call has this id: give each its own');
      return outbox.send(errorFrame(id, error));
    }
    const waits = isWaiting(frame.payload);
    const release = waits ? share.waitingCalls.tryTake() : undefined;
    if (waits && !release) return outbox.send(errorFrame(id, tooManyWait(share)));
    const waiting = release && { controller: new AbortController(), release };
    if (waiting) waitingCalls++;
    calls.set(key, waiting);
    const operation = findOperation(type);
    // A call that waits takes its place for a long answer only afterwards. Otherwise it would hold that place for
    // minutes.
    if (!waiting && operation?.long) return answerLong(frame, key, operation);
    performCall(calling, frame, { key, operation, waiting });
  }

  /**
   * A long result takes megabytes from when it is made until the client reads it, so it is made only when there is a
   * place.
   */
  function answerLong(frame: RequestFrame, key: Key, operation: Operation): void {
    void hub.takeLongAnswer(share).then((fetched) => {
      if (over) return fetched();
      performCall(calling, frame, { key, operation, onSaid: () => outbox.whenRead(fetched) });
    });
  }

  function endCall({ key, waiting }: Begun): void {
    if (waiting) waitingCalls--;
    ended(key);
  }

  /** Forgets the call, and reads on if the connection was paused for it. */
  function ended(key: Key): void {
    calls.delete(key);
    onDone();
    intake.goOn();
  }

  /** Resolves when the calls under way were answered. Clients repeat calls that wait on their next connection. */
  async function answersOut(): Promise<void> {
    while (!over && calls.size > waitingCalls) await new Promise<void>((resolve) => (onDone = resolve));
    await outbox.whenEmpty();
  }

  function refuseUnreadable({ id, error }: UnreadableFrame): void {
    outbox.send(errorFrame(id, error));
    if (++unreadable >= limits.unreadableFrames) void session.end({ code: 1008, reason: 'too many unreadable frames' });
  }

  /** Calls that wait for something to happen do not count: they may take minutes. */
  function isFull(): boolean {
    return calls.size - waitingCalls >= limits.inFlight || outbox.isBusy || share.isSpent;
  }

  /** The end of a call also calls `intake.goOn`, but there may be no call under way. */
  function whenRoom(goOn: () => void): void {
    if (outbox.isBusy) void outbox.whenFree().then(goOn);
    else if (share.isSpent) share.whenRenewed(goOn);
  }

  function cutOff(): void {
    if (over) return;
    hub.counters.cut++;
    const cursors = subscriptions.cursors();
    finish();
    line.cut(
      { code: 1013, reason: shortCursors(cursors) },
      JSON.stringify({ type: 'cut', cursors } satisfies CutFrame),
    );
  }

  function finish(): void {
    over = true;
    onDone();
    hub.leave(session);
    intake.close();
    subscriptions.close();
    mcp?.close();
    outbox.close();
    for (const waiting of calls.values()) {
      waiting?.release();
      waiting?.controller.abort();
    }
    calls.clear();
  }
}
