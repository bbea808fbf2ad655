import { isWaiting, REQUEST_BYTES } from '../operations/frames.ts';
import type { DaemonFrame, ErrorFrame, EventsFrame, RequestFrame } from '../operations/frames.ts';
import type { InputOf, OperationName, ResultOf } from '../operations/index.ts';
import { Calls } from './calls.ts';
import { abortError, CallError } from './errors.ts';
import { Feed } from './feed.ts';
import type { SubscribeOptions } from './feed.ts';
import { readOn } from './read-on.ts';
import { Retries } from './retries.ts';

export { CallError };

/** One connection, over any transport. `receive` gets whole frames; `closed` is called once, however it ends. */
export interface Connection {
  send(text: string): void;
  close(): void;
}

/** Opens an authenticated connection. Called again whenever the connection is lost. */
export type Connect = (handlers: {
  readonly receive: (text: string) => void;
  readonly closed: (reason: string) => void;
}) => Promise<Connection>;

/** Options of a call. */
export interface CallOptions {
  /** The member that a person speaks for. */
  readonly as?: string;
  /** Makes retries safe: the daemon runs a call once per command id. Generated if not given. */
  readonly commandId?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (message: string) => void;
  /** Called with the next `after` when a list is incomplete. Without it, the client fetches the rest, up to `limit`. */
  readonly onMore?: (after: string | number) => void;
}

/** Whether the client can reach the daemon. */
export type ConnectionState = 'connecting' | 'open' | 'waiting' | 'closed';

/** How a client behaves. */
export interface ClientOptions {
  /** How long the client retries a lost connection before calls fail, in milliseconds. */
  readonly patience?: number;
  readonly onState?: (state: ConnectionState) => void;
  /** Called with remarks about an answer. */
  readonly onNotice?: (message: string) => void;
}

const PATIENCE_MS = 30_000;

/** How long a cancelled call waits for its answer. The daemon answers within this time unless it hangs. */
const GIVEN_UP_MS = 1_000;

interface Pending {
  readonly id: number;
  readonly frame: RequestFrame;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress?: ((message: string) => void) | undefined;
  readonly onMore?: ((after: string | number) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  /** Rejects the call as cancelled. Set once the caller has cancelled it. */
  giveUp?: () => void;
  hung?: ReturnType<typeof setTimeout>;
}

/**
 * Speaks to a daemon. It reconnects by itself. After a reconnect it sends pending calls again under the same command
 * id, so the daemon runs them once. Subscriptions continue after the last batch they saw.
 */
export class Client {
  readonly #connect: Connect;
  readonly #options: ClientOptions;
  readonly #pending = new Calls<Pending>();
  readonly #feeds = new Set<Feed>();
  #connection: Connection | undefined;
  #connecting = false;
  #nextId = 1;
  #closed = false;
  /** Whether this connection has brought an answer or an event. */
  #isOfUse = false;
  /** The back-off after connections that fail, or that end before they bring anything. */
  readonly #retries: Retries;

  constructor(connect: Connect, options: ClientOptions = {}) {
    this.#connect = connect;
    this.#options = options;
    this.#retries = new Retries(options.patience ?? PATIENCE_MS);
  }

  /** Runs an operation. Rejects with a `CallError` that has the refusal's code. */
  call<N extends OperationName>(name: N, input: InputOf<N>, options: CallOptions = {}): Promise<ResultOf<N>> {
    const { as, commandId = crypto.randomUUID(), signal, onProgress, onMore } = options;
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const id = this.#nextId++;
    const frame: RequestFrame = {
      type: name,
      id,
      payload: input,
      commandId,
      ...(as !== undefined && { as }),
    };
    return new Promise<ResultOf<N>>((resolve, reject) => {
      const cancel = (): void => this.#cancel(id, () => reject(abortError(signal as AbortSignal)));
      const settle =
        <T>(done: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener('abort', cancel);
          done(value);
        };
      this.#pending.add({
        id,
        frame,
        resolve: settle(resolve as (value: unknown) => void),
        reject: settle(reject),
        onProgress,
        onMore,
        signal,
      });
      signal?.addEventListener('abort', cancel, { once: true });
      this.#transmit(frame);
    });
  }

  /**
   * Cancels a call. A call that waits, for a task say, may have succeeded at the same moment. Only the daemon knows, so
   * its answer counts. If the caller hears that the call was cancelled, the call had no effect.
   */
  #cancel(id: number, reject: () => void): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#connection?.send(JSON.stringify({ type: 'cancel', id }));
    pending.giveUp = () => {
      clearTimeout(pending.hung);
      if (this.#pending.take(id)) reject();
    };
    pending.hung = setTimeout(pending.giveUp, GIVEN_UP_MS);
    if (!this.#connection || !isWaiting(pending.frame.payload)) pending.giveUp();
  }

  /** Yields a team's batches after `after`, then new ones. It survives lost connections without a gap or a repeat. */
  async *subscribe(teamId: string, options: SubscribeOptions = {}): AsyncGenerator<EventsFrame> {
    const feed = new Feed(teamId, options);
    this.#feeds.add(feed);
    this.#transmit(feed.frame);
    try {
      yield* feed.batches();
    } finally {
      this.#feeds.delete(feed);
      if (![...this.#feeds].some((other) => other.teamId === teamId)) {
        this.#connection?.send(JSON.stringify({ type: 'unsubscribe', payload: { teamId } }));
      }
    }
  }

  /** Ends the connection; calls under way are rejected. */
  close(): void {
    this.#closed = true;
    this.#connection?.close();
    this.#connection = undefined;
    this.#failAll(new CallError('no_daemon', 'The client was closed'));
    this.#options.onState?.('closed');
  }

  #transmit(frame: RequestFrame): void {
    if (this.#closed) this.#failAll(new CallError('no_daemon', 'The client is closed'));
    else if (this.#connection) this.#send(this.#connection, frame);
    // Pending calls and subscriptions are sent when the connection is open.
    else this.#keepConnected();
  }

  /** The daemon closes a connection that sends a frame over the limit. So the client rejects such a call itself. */
  #send(connection: Connection, frame: RequestFrame): void {
    const text = JSON.stringify(frame);
    const bytes = text.length * 3 <= REQUEST_BYTES ? 0 : new TextEncoder().encode(text).length;
    if (bytes <= REQUEST_BYTES) return connection.send(text);
    const pending = this.#pending.take(frame.id);
    pending?.reject(new CallError('limit', `A call has at most ${REQUEST_BYTES} bytes, and this one has ${bytes}`));
  }

  #keepConnected(): void {
    if (this.#connecting) return;
    this.#connecting = true;
    void this.#reconnect().finally(() => (this.#connecting = false));
  }

  async #reconnect(): Promise<void> {
    let failure: Error = new CallError('no_daemon', 'The daemon closes the connection before it answers');
    while (!this.#closed) {
      if (!(await this.#retries.next())) {
        this.#failAll(failure);
        this.#options.onState?.('waiting');
        return;
      }
      if (this.#closed) return;
      this.#options.onState?.('connecting');
      try {
        const connection = await this.#connect({
          receive: (text) => this.#receive(text),
          closed: () => this.#lost(connection),
        });
        this.#connection = connection;
        this.#isOfUse = false;
        this.#options.onState?.('open');
        for (const { frame } of this.#pending.list()) this.#send(connection, frame);
        for (const feed of this.#feeds) this.#send(connection, feed.frame);
        return;
      } catch (error) {
        failure = error instanceof Error ? error : new CallError('no_daemon', String(error));
        if (error instanceof CallError && error.code !== 'no_daemon') this.#retries.refused();
        else this.#retries.failed();
      }
    }
  }

  #lost(connection: Connection | undefined): void {
    if (this.#closed || connection === undefined || connection !== this.#connection) return;
    this.#connection = undefined;
    // The daemon also notices the lost connection, and undoes cancelled calls.
    for (const { giveUp } of this.#pending.list()) giveUp?.();
    if (this.#isOfUse || (this.#pending.size === 0 && this.#feeds.size === 0)) this.#retries.succeeded();
    else this.#retries.failed();
    this.#options.onState?.('waiting');
    if (this.#pending.size > 0 || this.#feeds.size > 0) this.#keepConnected();
  }

  #receive(text: string): void {
    const frame = JSON.parse(text) as DaemonFrame;
    if (frame.type === 'events') {
      this.#isOfUse = true;
      for (const feed of this.#feeds) if (feed.teamId === frame.teamId) feed.push(frame);
      return;
    }
    if (frame.type === 'subscribed') {
      this.#isOfUse = true;
      for (const feed of this.#feeds) if (feed.teamId === frame.teamId) feed.stands(frame);
      return;
    }
    if (frame.type === 'notice') return this.#options.onNotice?.(frame.message);
    const pending = 'id' in frame ? this.#pending.get(frame.id) : undefined;
    if (pending) this.#isOfUse = true;
    if (frame.type === 'progress') pending?.onProgress?.(frame.message);
    else if (frame.type === 'error') this.#refused(frame, pending);
    else if (frame.type === 'result' && pending) {
      if (pending.giveUp && isNothing(frame.result)) return pending.giveUp();
      clearTimeout(pending.hung);
      this.#pending.take(pending.id);
      const { result, after } = frame;
      if (after === undefined) return pending.resolve(result);
      if (!pending.onMore) return pending.resolve(this.#whole(pending, result as unknown[], after));
      pending.onMore(after);
      pending.resolve(result);
    }
  }

  /** Completes a list whose first page is `begun`. Callers need not know that it came in pages. */
  async #whole({ frame, signal }: Pending, begun: readonly unknown[], after: string | number): Promise<unknown[]> {
    const { type, payload, as } = frame as RequestFrame & { payload: { limit?: number } };
    const list = [...begun];
    const ask = (rest: object, onMore: (after: string | number) => void): Promise<unknown> =>
      this.call(type as OperationName, rest, {
        ...(as !== undefined && { as }),
        ...(signal && { signal }),
        onMore,
      });
    await readOn({ list, after, payload, most: payload.limit ?? Infinity, ask });
    return list;
  }

  #refused({ id, error }: ErrorFrame, pending: Pending | undefined): void {
    const failure = new CallError(error.code, error.message, error.facts);
    if (pending?.giveUp) pending.giveUp();
    else if (pending) {
      this.#pending.take(pending.id);
      pending.reject(failure);
    }
    for (const feed of this.#feeds) if (feed.id === id) feed.fail(failure);
  }

  #failAll(error: Error): void {
    for (const { giveUp } of this.#pending.list()) giveUp?.();
    for (const { id } of this.#pending.list()) this.#pending.take(id)?.reject(error);
    for (const feed of this.#feeds) feed.fail(error);
  }
}

/** Whether a call that waited ended without a result. */
function isNothing(result: unknown): boolean {
  return result === null || (Array.isArray(result) && result.length === 0);
}
