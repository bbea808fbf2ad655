import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { nameTaken } from '../../src/journal/hosts.ts';
import type { HostCard, Hosts } from '../../src/journal/hosts.ts';
import type { Journal, Seq, Snapshot, Stored } from '../../src/journal/journal.ts';
import type { Network } from './network.ts';
import { later, newOwner, scheduler } from './scheduler.ts';
import type { Owner } from './scheduler.ts';

interface Stream {
  readonly batches: { readonly id: string; readonly text: string }[];
  snapshot: Snapshot | undefined;
}

interface Card {
  readonly card: HostCard;
  readonly until: number;
}

/** How long a client goes on trying, in milliseconds, and how long it waits in between. */
const PATIENCE_MS = 5_000;
const AGAIN_MS = 300;

const LEASE_MS = 6_000;

/** What the checks get to see: a batch that is stored, before anybody hears of it. */
export type OnStored = (team: string, batch: Stored) => void;

/**
 * The disk of one machine, or the servers that several machines share. What is stored stays. Like the real journals, its
 * clients repeat an append under one id until they know what became of it.
 */
export class Store {
  readonly owner: Owner;
  readonly network: Network;
  /** The probability that a write is refused: a full disk, servers without a leader. */
  refusing = 0;
  /** The probability that a read fails: a bad sector, servers that are overloaded. */
  failing = 0;
  /** The longest time that a flush takes, in milliseconds. */
  slowest = 0;
  /** Something is wrong with it. */
  get isFailing(): boolean {
    return this.refusing > 0 || this.failing > 0 || this.slowest > 0;
  }

  readonly #streams = new Map<string, Stream>();
  readonly #cards = new Map<string, Card>();
  readonly #followers = new Set<{ readonly team: string; readonly owner: Owner; readonly wake: () => void }>();
  readonly #cardListeners = new Set<{ readonly owner: Owner; readonly hear: (card: HostCard) => void }>();
  readonly #teamListeners = new Set<{ readonly owner: Owner; readonly hear: (team: string) => void }>();
  readonly #answerers = new Map<string, { owner: Owner; handler: (question: unknown) => Promise<unknown> }>();
  readonly #onStored: OnStored;

  constructor(network: Network, onStored: OnStored, machine = 'store') {
    this.owner = newOwner(`store of ${machine}`, machine);
    this.network = network;
    this.#onStored = onStored;
  }

  /** All that is stored of a team, for checks. */
  batches(team: string): Stored[] {
    return (this.#streams.get(team)?.batches ?? []).map(({ text }, at) => toStored(text, at + 1));
  }

  #append(team: string, expected: Seq, id: string, events: readonly TeamEvent[]): Seq {
    const stream = this.#streams.get(team) ?? { batches: [], snapshot: undefined };
    // A repeated append finds that it was done.
    if (stream.batches[expected]?.id === id) return expected + 1;
    if (stream.batches.length !== expected) {
      throw new TeamError('journal_conflict', `Team ${team} ends with batch ${stream.batches.length}, not ${expected}`);
    }
    if (scheduler.random('store').chance(this.refusing)) throw new TeamError('storage', 'The store is full');
    const text = JSON.stringify(events);
    const seq = stream.batches.push({ id, text });
    this.#streams.set(team, stream);
    this.#onStored(team, toStored(text, seq));
    for (const { team: theirs, owner, wake } of this.#followers) {
      if (theirs === team) this.network.send(this.owner, owner, wake);
    }
    if (seq === 1) {
      for (const { owner, hear } of this.#teamListeners) this.network.send(this.owner, owner, () => hear(team));
    }
    return seq;
  }

  /** A read, which may fail. */
  #get<T>(work: () => T): Promise<T> {
    return this.#call(() => {
      if (scheduler.random('store').chance(this.failing)) throw new TeamError('storage', 'The store cannot be read');
      return work();
    });
  }

  /** A call of a client: repeated until it is answered, or until its patience is over. */
  async #call<T>(work: () => T | Promise<T>): Promise<T> {
    const until = scheduler.now + PATIENCE_MS;
    for (;;) {
      try {
        // What it returns is decided when the request arrives, and a refusal is an answer.
        const outcome = await this.network.ask(this.owner, async () => {
          try {
            return { value: await work() };
          } catch (error) {
            return { error };
          }
        });
        if ('error' in outcome) throw new Refusal(outcome.error);
        return outcome.value;
      } catch (error) {
        if (error instanceof Refusal) throw error.reason;
        if (scheduler.now >= until) throw error;
        await later(AGAIN_MS);
      }
    }
  }

  /** The journal as a process sees it. */
  journal(): Journal {
    const client = scheduler.owner();
    let isClosed = false;
    let appends = 0;
    const requireOpen = (): void => {
      if (isClosed) throw new TeamError('storage', 'This journal is closed');
    };
    return {
      append: async (team, expected, events) => {
        requireOpen();
        const id = `${client.name} ${appends++}`;
        const copy = JSON.parse(JSON.stringify(events)) as TeamEvent[];
        return this.#call(async () => {
          if (this.slowest > 0) await later(scheduler.random('store').between(0, this.slowest));
          return this.#append(team, expected, id, copy);
        });
      },
      read: (team, after) => this.#read(team, after, requireOpen),
      follow: (team, after, signal) => this.#follow(team, after, signal, () => isClosed),
      loadSnapshot: (team) => this.#get(() => this.#streams.get(team)?.snapshot),
      saveSnapshot: (team, snapshot) =>
        this.#call(() => {
          const stream = this.#streams.get(team);
          if (!stream || snapshot.seq > stream.batches.length || snapshot.seq < (stream.snapshot?.seq ?? 1)) return;
          stream.snapshot = snapshot;
        }),
      teams: () => this.#get(() => [...this.#streams.keys()].sort()),
      drop: (team) => this.#call(() => void this.#streams.delete(team)),
      close: async () => {
        isClosed = true;
        for (const one of this.#followers) if (one.owner === client) one.wake();
      },
    };
  }

  async *#read(team: string, after: Seq, requireOpen: () => void): AsyncGenerator<Stored> {
    requireOpen();
    const batches = await this.#get(() => this.#after(team, after));
    yield* batches;
  }

  #after(team: string, after: Seq): Stored[] {
    const batches = this.#streams.get(team)?.batches ?? [];
    return batches.slice(after).map(({ text }, at) => toStored(text, after + at + 1));
  }

  async *#follow(team: string, after: Seq, signal: AbortSignal, isClosed: () => boolean): AsyncGenerator<Stored> {
    let wake = (): void => {};
    let isRung = true;
    const ring = (): void => {
      isRung = true;
      wake();
    };
    const follower = { team, owner: scheduler.owner(), wake: ring };
    this.#followers.add(follower);
    signal.addEventListener('abort', ring);
    try {
      for (let next = after; !signal.aborted && !isClosed();) {
        isRung = false;
        const from = next;
        const batches = await this.#get(() => this.#after(team, from)).catch(() => []);
        for (const batch of batches) {
          next = batch.seq;
          yield batch;
        }
        if (isRung || batches.length > 0) continue;
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        // A bell may be lost, so it looks now and then.
        const look = scheduler.plan(5_000, resolve);
        await promise;
        look.isOff = true;
      }
    } finally {
      this.#followers.delete(follower);
      signal.removeEventListener('abort', ring);
    }
  }

  #living(): HostCard[] {
    for (const [name, { until }] of this.#cards) if (until <= scheduler.now) this.#cards.delete(name);
    return [...this.#cards.values()].map(({ card }) => card).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The daemons that share it, as one of them sees them. */
  hosts(): Hosts {
    const client = scheduler.owner();
    const { network } = this;
    return {
      leaseMs: LEASE_MS,
      readLease: () => this.#call(() => LEASE_MS),
      announce: (card, { replaces } = {}) =>
        this.#call(() => {
          const there = this.#living().find(({ name }) => name === card.name);
          const isOther = there && (there.home !== card.home || there.instance !== card.instance);
          if (isOther && there.instance !== replaces?.instance) throw nameTaken(card.name);
          this.#cards.set(card.name, { card, until: scheduler.now + LEASE_MS });
          for (const { owner, hear } of this.#cardListeners) network.send(this.owner, owner, () => hear(card));
        }),
      list: () => this.#call(() => this.#living()),
      leave: (name) => this.#call(() => void this.#cards.delete(name)),
      isConnected: (name) => this.#call(() => this.#answerers.get(name)?.owner.isAlive ?? false),
      ask: (name, question, { timeoutMs }) => {
        const other = this.#answerers.get(name);
        if (!other?.owner.isAlive) throw new TeamError('storage', `The daemon ${name} does not answer`);
        return network.ask(other.owner, () => other.handler(question), timeoutMs);
      },
      answer: (name, handler) => {
        this.#answerers.set(name, { owner: client, handler });
        return () => void this.#answerers.delete(name);
      },
      checkHearing: async () => true,
      onCard: (hear) => listen(this.#cardListeners, { owner: client, hear }),
      onTeam: (hear) => listen(this.#teamListeners, { owner: client, hear }),
    };
  }
}

/** An answer that says no; every other error means that there was no answer. */
class Refusal extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('refused');
    this.reason = reason;
  }
}

function listen<T>(listeners: Set<T>, one: T): () => void {
  listeners.add(one);
  return () => void listeners.delete(one);
}

function toStored(text: string, seq: Seq): Stored {
  return { seq, events: JSON.parse(text) as TeamEvent[] };
}
