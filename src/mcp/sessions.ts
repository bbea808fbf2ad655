import type { Session } from './session.ts';

/** A session over HTTP, where each request comes alone: what is kept between them is this, a few hundred bytes. */
export interface HttpSession {
  readonly session: Session;
  /** What stands for the credential that began it. No other can use it. */
  readonly credential: string;
  /** The calls under way, by the id of their request. */
  readonly calls: Map<string | number, { close(): Promise<void> }>;
  lastUsed: number;
}

/** How many sessions, and for how long. */
export interface SessionLimits {
  /** Milliseconds without a request after which a session is forgotten. */
  readonly idle?: number;
  readonly most?: number;
  /** Of one credential; a person's may have all there are. */
  readonly mostOfOne?: number;
  /** Milliseconds on any clock that only goes forward. */
  readonly now?: () => number;
}

const IDLE_MS = 10 * 60_000;
const MOST = 100;
const MOST_OF_ONE = 16;
/** Of so many sessions that clients ended the ids are known; to begin one of them anew would do no harm. */
const ENDED = 10_000;

/**
 * The sessions of the HTTP endpoint. Those that nobody uses go, unless they know what their client was last given: an agent
 * may think for longer about its task. When there are too many, the oldest goes of the credential that has the most of them,
 * so that nobody makes others' be forgotten; a credential has only so many, and nobody keeps a person out.
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

  /** The session of this id, if there is one, used now. */
  find(id: string): HttpSession | undefined {
    this.#forgetIdle();
    const found = this.#byId.get(id);
    if (!found) return undefined;
    found.lastUsed = this.#now();
    // The order of a Map is that of insertion: the first is always the one that was used longest ago.
    this.#byId.delete(id);
    this.#byId.set(id, found);
    return found;
  }

  /** Keeps a new session; undefined when every place is taken by one that works. */
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

  /** Its client ended a session: it takes nobody's place, and what is left of it is its id. */
  async end(id: string): Promise<void> {
    const session = this.#byId.get(id);
    if (!session) return;
    this.#byId.delete(id);
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > ENDED && oldest !== undefined) this.#ended.delete(oldest);
    await endCalls(session);
  }

  /** Whether the session of this id was ended by its client. */
  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Ends every call under way. */
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

/** Ends what a session still does. */
async function endCalls({ calls }: HttpSession): Promise<void> {
  await Promise.all([...calls.values()].map((call) => call.close()));
}
