import type { Session } from './session.ts';

/** A session over HTTP: the few hundred bytes that are kept between requests. */
export interface HttpSession {
  readonly session: Session;
  /** Identifies the credential that began it. No other credential can use it. */
  readonly credential: string;
  /** The running calls, by request id. */
  readonly calls: Map<string | number, { close(): Promise<void> }>;
  lastUsed: number;
}

/** Limits of sessions. */
export interface SessionLimits {
  /** After this many milliseconds without a request, a session is dropped. */
  readonly idle?: number;
  readonly most?: number;
  /** Per credential. A person's credential has no limit of its own. */
  readonly mostOfOne?: number;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

const IDLE_MS = 10 * 60_000;
const MOST = 100;
const MOST_OF_ONE = 16;
/** How many ids of ended sessions are remembered. Reopening an older one does no harm. */
const ENDED = 10_000;

/**
 * The sessions of the HTTP endpoint. An idle session is dropped, unless it knows what its client was last given: an
 * agent may think longer about its task. When there are too many, the credential with the most sessions loses its
 * oldest idle one. So nobody can push out the sessions of others. Each credential has a limit, except a person's.
 */
export class Sessions {
  readonly #byId = new Map<string, HttpSession>();
  readonly #ended = new Set<string>();
  readonly #idle: number;
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #now: () => number;
  readonly #sweep: NodeJS.Timeout;

  constructor({
    idle = IDLE_MS,
    most = MOST,
    mostOfOne = MOST_OF_ONE,
    now = () => performance.now(),
  }: SessionLimits = {}) {
    this.#idle = idle;
    this.#most = most;
    this.#mostOfOne = mostOfOne;
    this.#now = now;
    this.#sweep = setInterval(() => this.#forgetIdle(), Math.min(idle, 60_000)).unref();
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Finds a session by its id and marks it as used now. */
  find(id: string): HttpSession | undefined {
    this.#forgetIdle();
    const found = this.#byId.get(id);
    if (!found) return undefined;
    found.lastUsed = this.#now();
    // A Map keeps insertion order, so the first session is always the least recently used.
    this.#byId.delete(id);
    this.#byId.set(id, found);
    return found;
  }

  /** Adds a new session; undefined if every place is taken by a session with a running call. */
  add(id: string, session: Session, credential: string): HttpSession | undefined {
    this.#forgetIdle();
    const isPersons = session.caller.scope === 'admin';
    if (!isPersons) {
      const own = [...this.#byId].filter(([, one]) => one.credential === credential);
      if (own.length >= this.#mostOfOne && !this.#forgetOldest(own)) return undefined;
    }
    if (this.#byId.size >= this.#most && !this.#forgetOldest(this.#byId) && !isPersons) return undefined;
    const added = { session, credential, calls: new Map(), lastUsed: this.#now() };
    this.#byId.set(id, added);
    return added;
  }

  /** The client ends a session. It no longer takes a place; only its id is remembered. */
  async end(id: string): Promise<void> {
    const session = this.#byId.get(id);
    if (!session) return;
    this.#byId.delete(id);
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > ENDED && oldest !== undefined) this.#ended.delete(oldest);
    await endCalls(session);
  }

  /** Whether the client ended the session with this id. */
  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Ends every running call. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    const sessions = [...this.#byId.values()];
    this.#byId.clear();
    await Promise.all(sessions.map(endCalls));
  }

  #forgetIdle(): void {
    const limit = this.#now() - this.#idle;
    for (const [id, session] of this.#byId) {
      if (session.lastUsed > limit) return;
      if (session.calls.size === 0 && !remembers(session)) this.#byId.delete(id);
    }
  }

  #forgetOldest(among: Iterable<[string, HttpSession]>): boolean {
    const idle = [...among].filter(([, { calls }]) => calls.size === 0);
    const counts = new Map<string, number>();
    for (const { credential } of this.#byId.values()) counts.set(credential, (counts.get(credential) ?? 0) + 1);
    const most = Math.max(...idle.map(([, { credential }]) => counts.get(credential) ?? 0));
    const [oldest] = idle.find(([, { credential }]) => counts.get(credential) === most) ?? [];
    return oldest !== undefined && this.#byId.delete(oldest);
  }
}

function remembers({ session: { handed, epochs } }: HttpSession): boolean {
  return handed.size + epochs.size > 0;
}

/** Ends the running calls of a session. */
async function endCalls({ calls }: HttpSession): Promise<void> {
  await Promise.all([...calls.values()].map((call) => call.close()));
}
