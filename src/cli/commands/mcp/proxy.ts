import { CallError } from '../../../client/client.ts';
import type { Connect, Connection } from '../../../client/client.ts';
import { backOff } from '../../../core/back-off.ts';

/** What the proxy tells the daemon about its client. */
export interface Greeting {
  team?: string;
  as?: string;
  /** Whether the team and the member must exist: true if a person named them. */
  known?: boolean;
  /** Whether the team tools are wanted; if absent, the credential decides. */
  teams?: boolean;
  /** The same for all connections of one client. */
  session: string;
  /** When the client connected first. */
  began?: number;
  /** The epoch of each task it claimed. */
  epochs?: Readonly<Record<string, number>>;
}

/** Options of a proxy. */
export interface ProxyOptions {
  /** Opens an authenticated connection; called again whenever the connection is lost. */
  readonly connect: Connect;
  readonly greeting: Greeting;
  /** Sends a line to the client. */
  readonly write: (line: string) => void;
  /** How long to wait for a lost daemon before calls are refused, in milliseconds. */
  readonly patience?: number;
}

type Id = string | number;

/** The part of a JSON-RPC message that the proxy looks at. */
interface Message {
  readonly jsonrpc?: string;
  readonly id?: Id;
  readonly method?: string;
  readonly params?: {
    readonly requestId?: Id;
    readonly arguments?: { readonly wait_seconds?: unknown };
    readonly _meta?: object;
  };
  readonly result?: {
    readonly _meta?: { readonly 'troupe/session'?: Partial<Pick<Greeting, 'team' | 'as' | 'epochs'>> };
  };
}

/** A request of the client without an answer. */
interface Pending {
  readonly line: string;
  /** Whether it waits for an event, not only for its answer. */
  readonly waits: boolean;
  /** How often it was sent. */
  tries: number;
}

const PATIENCE_MS = 30_000;

/** A client that starts us wants to know soon if that fails. */
const FIRST_PATIENCE_MS = 5_000;

const RETRY_MS = { least: 20, most: 1_000 };

/** The daemon refuses longer lines. */
const LONGEST_LINE = 1024 * 1024 - 1024;

/**
 * How long a client is still answered after its input ended. A client that died looks the same as one that has nothing
 * more to ask. A call of a dead client that waits for a task must not get one much later.
 */
const LAST_ANSWERS_MS = 2_000;

/** How often a request is sent. One that breaks the connection each time is given up after that. */
const MOST_TRIES = 5;

/**
 * Passes the messages of an MCP client to the daemon and back, unchanged. It reconnects without the client noticing: it
 * repeats the handshake and drops the answer. Then it sends unanswered requests again under the same command id, so
 * that they run once.
 */
export class McpProxy {
  readonly #options: ProxyOptions;
  readonly #greeting: Greeting;
  readonly #pending = new Map<Id, Pending>();
  /** Requests that were sent again although the client has their answers. */
  readonly #repeated = new Set<Id>();
  #initialize: { id: Id; line: string; isAnswered: boolean } | undefined;
  #initialized: string | undefined;
  #connection: Connection | undefined;
  #connecting: Promise<void> | undefined;
  #allAnswered: (() => void) | undefined;
  #wasOpen = false;
  #closed = false;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#greeting = { ...options.greeting };
  }

  /** Connects, or rejects with the reason. Called again automatically when a connection is lost. */
  open(): Promise<void> {
    this.#connecting ??= this.#reconnect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  /** Handles a line from the client. */
  receive(line: string): void {
    const message = readMessage(line);
    if (!message) return this.#refuse(null, -32700, 'This line is not a JSON-RPC message');
    const { id, method, params } = message;
    if (method === 'notifications/initialized') this.#initialized = line;
    if (method === 'notifications/cancelled' && params?.requestId !== undefined) this.#forget(params.requestId);
    if (method === undefined || id === undefined) return this.#connection?.send(line);

    const named = method === 'tools/call' ? nameCall(message) : line;
    if (named === undefined) return this.#refuse(id, -32600, 'This message is nested too deeply');
    if (Buffer.byteLength(named) > LONGEST_LINE) {
      return this.#refuse(id, -32000, `A message has at most ${LONGEST_LINE} bytes: put long texts into files`);
    }
    if (method === 'initialize') this.#initialize = { id, line, isAnswered: false };
    const pending = { line: named, waits: Number(params?.arguments?.wait_seconds) > 0, tries: 0 };
    this.#pending.set(id, pending);
    if (this.#connection) this.#send(id, pending);
    else void this.open().catch((error: unknown) => this.#refuseAll(error));
  }

  /**
   * The client's input ended, which is how it stops a server. Waiting calls are cancelled, so that they do not get a
   * task that nobody works on. Other requests are answered; then the connection is closed.
   */
  async finish(): Promise<void> {
    for (const [requestId, { waits }] of this.#pending) if (waits) this.#cancel(requestId);
    if (this.#pending.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#allAnswered = resolve;
      const timer = setTimeout(resolve, LAST_ANSWERS_MS);
      await promise;
      clearTimeout(timer);
    }
    this.close();
  }

  /** The client is gone. */
  close(): void {
    this.#closed = true;
    this.#connection?.close();
  }

  async #reconnect(): Promise<void> {
    const patience = this.#options.patience ?? (this.#wasOpen ? PATIENCE_MS : FIRST_PATIENCE_MS);
    const giveUp = performance.now() + patience;
    for (let attempt = 1; !this.#closed; attempt++) {
      const pause = backOff(attempt, RETRY_MS, Math.random());
      try {
        return await this.#connect();
      } catch (error) {
        const isAbsent = error instanceof CallError && error.code === 'no_daemon';
        if (!isAbsent || performance.now() + pause > giveUp) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #connect(): Promise<void> {
    const accepted = Promise.withResolvers<void>();
    let isAccepted = false;
    const connection = await this.#options.connect({
      receive: (line) => {
        if (isAccepted) return this.#answer(line);
        const { error } = JSON.parse(line) as { error?: { code: CallError['code']; message: string } };
        if (error) return accepted.reject(new CallError(error.code, error.message));
        isAccepted = true;
        accepted.resolve();
      },
      closed: (reason) => {
        accepted.reject(new CallError('no_daemon', reason));
        if (this.#connection === connection) this.#lost();
      },
    });
    connection.send(JSON.stringify({ type: 'mcp', id: 0, payload: this.#greeting }));
    await accepted.promise;
    if (this.#closed) return connection.close();
    this.#connection = connection;
    this.#wasOpen = true;
    this.#greet(connection);
    for (const [id, pending] of this.#pending) {
      this.#send(id, pending);
      // The client may send `initialized` before it has the answer to `initialize`.
      if (id === this.#initialize?.id && this.#initialized !== undefined) connection.send(this.#initialized);
    }
  }

  /** Repeats the handshake of an earlier connection. */
  #greet(connection: Connection): void {
    if (!this.#initialize?.isAnswered) return;
    this.#repeated.add(this.#initialize.id);
    connection.send(this.#initialize.line);
    if (this.#initialized !== undefined) connection.send(this.#initialized);
  }

  #send(id: Id, pending: Pending): void {
    if (++pending.tries <= MOST_TRIES) return this.#connection?.send(pending.line);
    this.#refuse(id, -32000, 'The daemon closed the connection each time it received this call');
    this.#forget(id);
  }

  #lost(): void {
    this.#connection = undefined;
    if (!this.#closed) void this.open().catch((error: unknown) => this.#refuseAll(error));
  }

  #answer(line: string): void {
    const { jsonrpc, id, method, result } = readMessage(line) ?? {};
    // A frame for the daemon's own clients, sent before it closes.
    if (jsonrpc === undefined) return;
    if (id !== undefined && method === undefined) {
      if (this.#repeated.delete(id)) return;
      if (id === this.#initialize?.id) this.#initialize.isAnswered = true;
      // The client created a team and leads it now, or claimed a task. The next daemon must know.
      const { _meta: meta } = result ?? {};
      Object.assign(this.#greeting, meta?.['troupe/session']);
    }
    this.#options.write(line);
    if (id !== undefined && method === undefined) this.#forget(id);
  }

  #refuseAll(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    for (const id of this.#pending.keys()) {
      this.#refuse(id, -32000, message);
      this.#forget(id);
    }
  }

  #cancel(requestId: Id): void {
    const params = { requestId, reason: 'the client writes nothing more' };
    this.#connection?.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    this.#forget(requestId);
  }

  #forget(id: Id): void {
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#allAnswered?.();
  }

  #refuse(id: Id | null, code: number, message: string): void {
    this.#options.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  }
}

function readMessage(line: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Gives a call a command id, so that it can be sent again and still runs once. */
function nameCall(message: Message): string | undefined {
  const { _meta: meta, ...params } = message.params ?? {};
  const named = { ...meta, 'troupe/commandId': crypto.randomUUID() };
  try {
    return JSON.stringify({ ...message, params: { ...params, _meta: named } });
  } catch {
    // A message nested 10,000 levels deep can be parsed but not serialized.
    return undefined;
  }
}
