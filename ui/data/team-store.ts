import { openSnapshot, Replica } from '../../src/client/replica.ts';
import type { TeamState } from '../../src/client/replica.ts';
import { call, follow, noteLock } from './daemon.ts';
import { readOlder } from './older.ts';
import { derive } from './team-view.ts';
import type { TeamView } from './team-view.ts';

/** The state of a replica: first read, behind, up to date, or broken. */
export type Phase = 'loading' | 'catching-up' | 'live' | 'failed';

/** How many batches come with the opening. Most teams have no more. */
const NEWEST = 400;

/** How long a click may take until the moment is shown; what takes longer is done in slices, for frames in between. */
const AT_ONCE_MS = 50;
const SLICE_MS = 16;
/** Nobody sees the frames of a hidden page, and its timers are rare. */
const HIDDEN_SLICE_MS = 500;

/** How often a page shows how much was read. */
const TELL_READING_MS = 250;

/**
 * A team as the page shows it, outside of React. It begins with a snapshot of the present and the newest batches, and
 * reads the older ones afterwards. Events come at any rate; subscribers are notified once per frame. It can show an
 * earlier moment, once it has the whole history; new events are then kept but not shown.
 */
export class TeamStore {
  readonly teamId: string;
  #replica: Replica;
  #phase: Phase = 'loading';
  #error: Error | undefined;
  #target = 0;
  #moment: number | undefined;
  /** The moment that was asked for, and cannot be shown yet. Until then, the present is shown. */
  #wanted: number | undefined;
  #going: ReturnType<typeof setTimeout> | undefined;
  #reading: ReturnType<typeof setTimeout> | undefined;
  #view: TeamView | undefined;
  #version = 0;
  #scheduled: 'soon' | 'at the next frame' | undefined;
  #stop = new AbortController();
  readonly #listeners = new Set<() => void>();

  constructor(teamId: string) {
    this.teamId = teamId;
    this.#replica = new Replica(teamId);
    void this.#run();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Grows with every notification. */
  get version(): number {
    return this.#version;
  }

  get phase(): Phase {
    return this.#phase;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  /** How many batches are here, and how many the daemon last had. */
  get progress(): { done: number; of: number } {
    return { done: this.#replica.seq, of: Math.max(this.#target, this.#replica.seq) };
  }

  /** Everything that happened. Until `isWhole`, only the newest batches. */
  get history(): Replica['batches'] {
    return this.#replica.recent;
  }

  /** Whether the whole history is here. */
  get isWhole(): boolean {
    return this.#replica.isWhole;
  }

  /** The history from its beginning, as far as it was read. */
  get older(): Replica['batches'] {
    return this.#replica.batches;
  }

  /** How much of the history was read, from 0 to 1. */
  get share(): number {
    return this.isWhole ? 1 : this.#replica.batches.length / Math.max(1, this.#replica.seq - NEWEST);
  }

  /** Whether the team is closed now, whatever moment is shown. */
  get isEnded(): boolean {
    return this.#replica.live.team?.status === 'cleaned-up';
  }

  /** The moment that is shown; undefined for the present. */
  get moment(): number | undefined {
    return this.#moment;
  }

  /** The moment that will be shown, when it can be. */
  get wanted(): number | undefined {
    return this.#wanted;
  }

  /** The team at the moment that is shown. */
  get state(): TeamState {
    return this.#moment === undefined ? this.#replica.live : this.#replica.at(this.#moment);
  }

  /** What is derived from the state; the same object until the next change. */
  get view(): TeamView {
    return (this.#view ??= derive(this.state, this.#view));
  }

  /** Shows the team as it was after a batch, or as it is now (undefined). It may take until the history is read. */
  show(moment: number | undefined): void {
    const next = moment === undefined || moment >= this.#replica.seq ? undefined : Math.max(1, moment);
    if (next === (this.#wanted ?? this.#moment)) return;
    this.#wanted = next;
    if (next === undefined) this.#moment = undefined;
    else this.#go(AT_ONCE_MS);
    if (this.#moment === undefined) this.#tell();
  }

  /** Reads everything again after a failure. */
  retry(): void {
    this.close();
    this.#stop = new AbortController();
    this.#replica = new Replica(this.teamId);
    this.#phase = 'loading';
    this.#error = undefined;
    this.#moment = undefined;
    this.#wanted = undefined;
    this.#tell();
    void this.#run();
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#going);
    clearTimeout(this.#reading);
    this.#reading = undefined;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      const onStand = (seq: number): void => {
        this.#target = seq;
        if (seq > this.#replica.seq) this.#setPhase(this.#replica.seq === 0 ? 'loading' : 'catching-up');
        else this.#setPhase('live');
      };
      const { after, stream } = await this.#begin(signal);
      for await (const batch of follow(this.teamId, { after, stream, signal, onStand })) {
        if (signal.aborted) return;
        const wasWhole = this.isWhole;
        this.#replica.apply(batch);
        if (this.#phase !== 'live' && this.#replica.seq >= this.#target) this.#phase = 'live';
        if (this.isWhole && !wasWhole) this.#go(SLICE_MS);
        this.#schedule();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.close();
      noteLock(error);
      this.#error = error instanceof Error ? error : new Error(String(error));
      this.#setPhase('failed');
    }
  }

  /** Reads the present, and begins to read the past. Returns where the newest batches begin. */
  async #begin(signal: AbortSignal): Promise<{ after: number; stream: string }> {
    const { seq, stream, body } = await call('event.snapshot', { teamId: this.teamId }, { signal });
    const state = openSnapshot(this.teamId, body);
    if (!state) throw new Error('The daemon was updated since this page was opened: reload the page');
    const after = Math.max(0, seq - NEWEST);
    const replica = new Replica(this.teamId, { state, seq, after });
    this.#replica = replica;
    const { teamId } = this;
    void readOlder(replica, {
      teamId,
      until: after,
      signal,
      onRead: () => {
        if (replica.isWhole) {
          this.#go(SLICE_MS);
          this.#schedule();
        }
        this.#reading ??= setTimeout(() => {
          this.#reading = undefined;
          this.#schedule();
        }, TELL_READING_MS);
      },
    });
    return { after, stream };
  }

  /** Moves to the moment that is wanted, in slices. The present is shown meanwhile, because it does not move. */
  #go(ms: number): void {
    clearTimeout(this.#going);
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    const until = performance.now() + ms;
    const isThere = this.isWhole && this.#replica.moveTo(wanted, () => performance.now() < until);
    this.#moment = isThere ? wanted : undefined;
    if (isThere) {
      this.#wanted = undefined;
      this.#tell();
    } else if (this.isWhole) {
      this.#going = setTimeout(() => this.#go(document.hidden ? HIDDEN_SLICE_MS : SLICE_MS));
    }
  }

  #setPhase(phase: Phase): void {
    if (this.#phase === phase) return;
    this.#phase = phase;
    this.#schedule();
  }

  /** Notifies once per frame; a few times a second if the page is hidden or the team is still being read. */
  #schedule(): void {
    const when = document.hidden || this.#phase !== 'live' ? 'soon' : 'at the next frame';
    // When the first read ends, the notification does not wait longer.
    if (this.#scheduled === when || this.#scheduled === 'at the next frame') return;
    this.#scheduled = when;
    const tell = (): void => {
      if (this.#scheduled !== when) return;
      this.#scheduled = undefined;
      this.#tell();
    };
    if (when === 'soon') setTimeout(tell, 120);
    else requestAnimationFrame(tell);
  }

  #tell(): void {
    this.#version++;
    // While the past is shown, new events do not change the view.
    this.#view = this.#view && derive(this.state, this.#view);
    for (const listener of this.#listeners) listener();
  }
}

const stores = new Map<string, { store: TeamStore; users: number; timer: ReturnType<typeof setTimeout> | undefined }>();
/** How long an unused store is kept, so that switching pages does not read a team again. */
const KEPT_MS = 60_000;

/** The store of a team, shared by all components; call `release` when done. */
export function acquireTeam(teamId: string): { store: TeamStore; release: () => void } {
  const entry = stores.get(teamId) ?? { store: new TeamStore(teamId), users: 0, timer: undefined };
  stores.set(teamId, entry);
  clearTimeout(entry.timer);
  entry.users++;
  return {
    store: entry.store,
    release() {
      entry.users--;
      if (entry.users > 0) return;
      entry.timer = setTimeout(() => {
        entry.store.close();
        stores.delete(teamId);
      }, KEPT_MS);
    },
  };
}
