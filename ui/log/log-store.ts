import type { InputOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import type { LogEntry } from './steps.ts';

/** Which entries of a member's transcripts are shown: all, or those of a span of time, in milliseconds since 1970. */
export interface LogRange {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** What a log shows now. */
export interface LogShown {
  readonly entries: readonly LogEntry[];
  readonly isLoaded: boolean;
  /** Whether there is more before or after what is shown. */
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
  readonly failure: Failure | undefined;
}

type Part = Omit<InputOf<'transcript.read'>, 'teamId' | 'memberId'>;

interface Page {
  readonly session: string;
  readonly from: number;
  readonly after: number;
  readonly size: number;
  readonly earlier: string | undefined;
  readonly later: string | undefined;
  readonly entries: readonly LogEntry[];
  /** Nothing of the span comes before it, or after it. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

const WAIT_MS = 20_000;
const RETRY_MS = 2_000;

/** How many pages are kept, of 256 KB each; the farthest ones are dropped, and read again when somebody goes there. */
const KEPT_PAGES = 24;

/** Small pages that come while a member works are joined up to this size. */
const PAGE_BYTES = 256 * 1024;

const NOTHING: LogShown = { entries: [], isLoaded: false, hasBefore: false, hasAfter: false, failure: undefined };

/** A member's transcripts: a part of them, which grows in both directions on demand, and at its end by itself. */
export class LogStore {
  readonly teamId: string;
  readonly memberId: string;
  readonly range: LogRange;
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  #pages: readonly Page[] = [];
  /** Grows when other pages are shown: what was asked for before is dropped. */
  #turn = 0;
  #isBusy = false;
  #shown = NOTHING;

  constructor(teamId: string, memberId: string, range: LogRange = {}) {
    this.teamId = teamId;
    this.memberId = memberId;
    this.range = range;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  shown = (): LogShown => this.#shown;

  close(): void {
    this.#stop.abort();
  }

  /** Shows the beginning: of the span, or of the oldest session. */
  toBegin(): Promise<void> {
    return this.#show({ since: this.range.since ?? 0 });
  }

  /** Shows the end: of the span, or the newest entries. */
  async toEnd(): Promise<void> {
    const { until } = this.range;
    if (until === undefined) return this.#show({ tail: true });
    await this.#show({ since: until });
    return this.loadBefore();
  }

  /** Shows the entries from a place on. */
  toPlace(session: string, place: number): Promise<void> {
    return this.#show({ session, after: place });
  }

  /** Adds the page before what is shown. */
  async loadBefore(): Promise<void> {
    const [first] = this.#pages;
    if (!first || first.isFirst) return;
    const { session, from, earlier } = first;
    await this.#load(from > 0 ? { session, before: from } : { session: earlier, tail: true }, (page) =>
      [page, ...this.#pages].slice(0, KEPT_PAGES),
    );
  }

  /** Adds the page after what is shown. */
  async loadAfter(): Promise<void> {
    const last = this.#pages.at(-1);
    if (!last || last.isLast) return;
    const { session, after, size, later } = last;
    const part = after < size || later === undefined ? { session, after } : { session: later, after: 0 };
    await this.#load(part, (page) => this.#withLast(page));
    void this.#follow();
  }

  async #load(part: Part, put: (page: Page) => readonly Page[]): Promise<void> {
    if (this.#isBusy) return;
    const turn = this.#turn;
    this.#isBusy = true;
    try {
      const page = await this.#read(part);
      if (turn !== this.#turn || !page) return;
      this.#pages = put(page);
      this.#publish();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isBusy = false;
    }
  }

  async #show(part: Part): Promise<void> {
    const turn = ++this.#turn;
    try {
      const page = await this.#read(part);
      if (turn !== this.#turn) return;
      this.#pages = page ? [page] : [];
      this.#publish();
      void this.#follow();
    } catch (error) {
      if (turn === this.#turn) this.#fail(error);
    }
  }

  /** Waits for new entries while the end is shown. */
  async #follow(): Promise<void> {
    const turn = this.#turn;
    const isAtEnd = (): boolean =>
      turn === this.#turn && !this.#stop.signal.aborted && (this.#pages.at(-1)?.isLast ?? true);
    if (this.range.until !== undefined || this.#followed === turn) return;
    this.#followed = turn;
    while (isAtEnd()) {
      const last = this.#pages.at(-1);
      try {
        let page = await this.#read({ after: last?.after ?? 0, wait: WAIT_MS });
        // A restarted member writes a new transcript, which is read from its beginning.
        if (last && page && page.session !== last.session) page = await this.#read({ session: page.session, after: 0 });
        if (!isAtEnd()) break;
        if (page && page.entries.length > 0) this.#pages = this.#withLast(page);
        this.#publish();
      } catch (error) {
        this.#fail(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    if (this.#followed === turn) this.#followed = undefined;
  }
  #followed: number | undefined;

  #withLast(page: Page): readonly Page[] {
    const last = this.#pages.at(-1);
    if (last?.session !== page.session || last.after !== page.from || page.after - last.from > PAGE_BYTES) {
      return [...this.#pages, page].slice(-KEPT_PAGES);
    }
    const { from, isFirst } = last;
    return [...this.#pages.slice(0, -1), { ...page, from, isFirst, entries: [...last.entries, ...page.entries] }];
  }

  /** The entries of a page that are within the span. */
  async #read(part: Part): Promise<Page | undefined> {
    const { teamId, memberId } = this;
    const answer = await call('transcript.read', { teamId, memberId, ...part }, { signal: this.#stop.signal });
    const { session, from = 0, after, size = after, entries, earlier = [], later = [] } = answer;
    if (session === null) return undefined;
    const { since = 0, until = Infinity } = this.range;
    return {
      session,
      from,
      after,
      size,
      earlier: earlier.at(-1),
      later: later[0],
      entries: entries.filter(({ at }) => at >= since && at <= until).map((entry) => ({ ...entry, session })),
      isFirst: part.since === since || (from === 0 && earlier.length === 0) || entries.some(({ at }) => at < since),
      isLast: (after >= size && later.length === 0) || entries.some(({ at }) => at > until),
    };
  }

  #publish(): void {
    this.#set({
      entries: this.#pages.flatMap(({ entries }) => entries),
      isLoaded: true,
      hasBefore: this.#pages[0]?.isFirst === false,
      hasAfter: this.#pages.at(-1)?.isLast === false,
      failure: undefined,
    });
  }

  #fail(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#set({ ...this.#shown, isLoaded: true, failure: failureOf(error) });
  }

  #set(shown: LogShown): void {
    this.#shown = shown;
    for (const listener of this.#listeners) listener();
  }
}
