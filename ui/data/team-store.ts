import { Replica } from '../../src/client/replica.ts';
import type { TeamState } from '../../src/client/replica.ts';
import { follow, noteLock } from './daemon.ts';
import { derive } from './team-view.ts';
import type { TeamView } from './team-view.ts';

/** The state of a replica: first read, behind, up to date, or broken. */
export type Phase = 'loading' | 'catching-up' | 'live' | 'failed';

/**
 * A team as the page shows it, outside of React. Events come at any rate; subscribers are notified once per frame. It
 * can show an earlier moment; new events are then kept but not shown.
 */
export class TeamStore {
  readonly teamId: string;
  #replica: Replica;
  #phase: Phase = 'loading';
  #error: Error | undefined;
  #target = 0;
  #moment: number | undefined;
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

  get history(): Replica['batches'] {
    return this.#replica.batches;
  }

  /** Whether the team is closed now, whatever moment is shown. */
  get isEnded(): boolean {
    return this.#replica.live.team?.status === 'cleaned-up';
  }

  /** The moment that is shown; undefined for the present. */
  get moment(): number | undefined {
    return this.#moment;
  }

  /** The team at the moment that is shown. */
  get state(): TeamState {
    return this.#moment === undefined ? this.#replica.live : this.#replica.at(this.#moment);
  }

  /** What is derived from the state; the same object until the next change. */
  get view(): TeamView {
    return (this.#view ??= derive(this.state, this.#view));
  }

  /** Shows the team as it was after a batch, or as it is now (undefined). */
  show(moment: number | undefined): void {
    const next = moment === undefined || moment >= this.#replica.seq ? undefined : Math.max(1, moment);
    if (next === this.#moment) return;
    this.#moment = next;
    this.#tell();
  }

  /** Reads everything again after a failure. */
  retry(): void {
    this.close();
    this.#stop = new AbortController();
    this.#replica = new Replica(this.teamId);
    this.#phase = 'loading';
    this.#error = undefined;
    this.#moment = undefined;
    this.#tell();
    void this.#run();
  }

  close(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      const onStand = (seq: number): void => {
        this.#target = seq;
        if (seq > this.#replica.seq) this.#setPhase(this.#replica.seq === 0 ? 'loading' : 'catching-up');
        else this.#setPhase('live');
      };
      for await (const batch of follow(this.teamId, { signal, onStand })) {
        if (signal.aborted) return;
        this.#replica.apply(batch);
        if (this.#phase !== 'live' && this.#replica.seq >= this.#target) this.#phase = 'live';
        this.#schedule();
      }
    } catch (error) {
      if (signal.aborted) return;
      noteLock(error);
      this.#error = error instanceof Error ? error : new Error(String(error));
      this.#setPhase('failed');
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
