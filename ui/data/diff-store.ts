import { joinHunks } from '../../src/client/hunks.ts';
import type { Hunk } from '../../src/client/hunks.ts';
import type { InputOf, ResultOf } from '../../src/operations/index.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { call } from './daemon.ts';

/** A file that differs. */
export type Change = ResultOf<'work.files'>['changes'][number];
export type { Hunk };
/** What is compared. */
export type AskedFiles = Omit<InputOf<'work.files'>, 'teamId' | 'after'>;

/** What is compared, and how much differs. */
export type DiffHead = Omit<ResultOf<'work.files'>, 'changes' | 'next'>;

/** The lines of a file, as far as they are here. */
export interface FileLines {
  readonly phase: 'away' | 'loading' | 'ready' | 'failed';
  readonly hunks: readonly Hunk[];
  /** How many lines are here, and how many there are. */
  readonly done: number;
  readonly of: number;
  /** Why there are none. */
  readonly folded?: 'binary' | 'large' | 'bound' | undefined;
  readonly failure?: Failure;
}

const AWAY: FileLines = { phase: 'away', hunks: [], done: 0, of: 0 };

/** The daemon makes two long answers at a time for one page. */
const AT_ONCE = 2;

/**
 * A difference as the page shows it, outside of React. The files are listed first; the lines of a file are read when
 * somebody looks at it, part by part.
 */
export class DiffStore {
  readonly teamId: string;
  readonly #asked: AskedFiles;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #lines = new Map<string, FileLines>();
  /** What is wanted and not begun; the newest is read first, because it is what somebody looks at. */
  #wanted: { readonly change: Change; readonly whole: boolean }[] = [];
  #running = 0;
  #version = 0;
  #head: DiffHead | undefined;
  #changes: readonly Change[] = [];
  #isListed = false;
  #failure: Failure | undefined;

  constructor(teamId: string, asked: AskedFiles) {
    this.teamId = teamId;
    this.#asked = asked;
    void this.#list();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** What is compared, and how much differs; undefined until the first answer. */
  get head(): DiffHead | undefined {
    return this.#head;
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** Whether all files are listed. */
  get isListed(): boolean {
    return this.#isListed;
  }

  get failure(): Failure | undefined {
    return this.#failure;
  }

  linesOf(path: string): FileLines {
    return this.#lines.get(path) ?? AWAY;
  }

  /** Reads the lines of a file, if that has not begun. `whole`: also if it is large or binary. */
  want(change: Change, { whole = false } = {}): void {
    const { phase } = this.linesOf(change.path);
    if (phase !== 'away' && !(whole && phase !== 'loading')) return;
    this.#put(change.path, { ...AWAY, phase: 'loading' });
    this.#wanted.push({ change, whole });
    void this.#work();
  }

  close(): void {
    this.#stop.abort();
  }

  async #list(): Promise<void> {
    const { signal } = this.#stop;
    try {
      let asked: Omit<InputOf<'work.files'>, 'teamId'> = this.#asked;
      for (let after: number | undefined = 0; after !== undefined;) {
        const page: ResultOf<'work.files'> = await call(
          'work.files',
          { teamId: this.teamId, ...asked, after },
          { signal },
        );
        const { changes, next, ...head } = page;
        // The folder of a member goes on: later parts are of the same commits.
        asked = { from: head.from, to: head.to };
        this.#head ??= head;
        this.#changes = [...this.#changes, ...changes];
        this.#isListed = next === undefined;
        after = next;
        this.#tell();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#failure = failureOf(error);
      this.#tell();
    }
  }

  async #work(): Promise<void> {
    if (this.#running >= AT_ONCE) return;
    this.#running++;
    for (let next = this.#wanted.pop(); next && !this.#stop.signal.aborted; next = this.#wanted.pop()) {
      await this.#read(next.change, next.whole);
    }
    this.#running--;
  }

  async #read({ path, previous }: Change, whole: boolean): Promise<void> {
    const { signal } = this.#stop;
    const { from = '', to = '' } = this.#head ?? {};
    const asked = { teamId: this.teamId, from, to, path, ...(previous !== undefined && { previous }), whole };
    let hunks: readonly Hunk[] = [];
    try {
      for (let after: number | undefined = 0; after !== undefined;) {
        const page: ResultOf<'work.lines'> = await call('work.lines', { ...asked, after }, { signal });
        hunks = joinHunks(hunks, page.hunks);
        after = page.next;
        const phase = after === undefined ? 'ready' : 'loading';
        this.#put(path, { phase, hunks, done: after ?? page.lines, of: page.lines, folded: page.folded });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#put(path, { ...AWAY, phase: 'failed', failure: failureOf(error) });
    }
  }

  #put(path: string, lines: FileLines): void {
    this.#lines.set(path, lines);
    this.#tell();
  }

  #tell(): void {
    this.#version++;
    for (const listener of this.#listeners) listener();
  }
}
