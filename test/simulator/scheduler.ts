import { AsyncLocalStorage } from 'node:async_hooks';
import { randomStream } from './random.ts';
import type { RandomStream } from './random.ts';

/** A simulated process, or something outside of all machines: whoever waits for something. */
export interface Owner {
  readonly name: string;
  readonly machine: string;
  readonly pid: number;
  isAlive: boolean;
  isPaused: boolean;
  /** When it went on after its last pause. */
  resumedAt: number;
  /** What it was to do while it was paused. */
  readonly missed: Step[];
}

interface Step {
  readonly at: number;
  readonly order: number;
  readonly owner: Owner;
  readonly run: () => void;
  isOff: boolean;
}

/** Taken before the globals are replaced. */
const RealDate = Date;
const realImmediate = setImmediate;

const EPOCH = RealDate.parse('2026-01-01T00:00:00Z');

const current = new AsyncLocalStorage<Owner>();

/** Time that only passes between steps, and everything that is still to happen, in its order. */
class Scheduler {
  /** Milliseconds since the start of the run. */
  now = 0;
  steps = 0;
  #order = 0;
  #heap: Step[] = [];
  #streams = new Map<string, RandomStream>();
  #seed = 0;
  /** How much the wall clock of each machine is wrong, in milliseconds. */
  readonly wrong = new Map<string, number>();

  /** Forgets everything. The same seed gives the same run. */
  reset(seed: number): void {
    this.now = 0;
    this.steps = 0;
    this.#order = 0;
    this.#heap = [];
    this.#streams.clear();
    this.#seed = seed;
    this.wrong.clear();
    lastPid = 100;
  }

  /** How much is planned for an owner that lives: its timers, and what it waits for. */
  planned(owner: Owner): number {
    return this.#heap.filter((step) => !step.isOff && step.owner === owner && owner.isAlive).length;
  }

  /** The random numbers for one purpose: what is drawn for another does not change them. */
  random(purpose: string): RandomStream {
    let stream = this.#streams.get(purpose);
    if (!stream) this.#streams.set(purpose, (stream = randomStream(`${this.#seed} ${purpose}`)));
    return stream;
  }

  owner(): Owner {
    return current.getStore() ?? WORLD;
  }

  /** The time that the wall clock of a machine shows. */
  wall(owner = this.owner()): number {
    return EPOCH + Math.floor(this.now) + (this.wrong.get(owner.machine) ?? 0);
  }

  /** Plans a step. It is not done if its owner is dead by then; if it is paused, it is done when it goes on. */
  plan(delay: number, run: () => void, owner = this.owner()): Step {
    const at = this.now + Math.max(0, delay);
    const step = { at, order: this.#order++, owner, run, isOff: false };
    push(this.#heap, step);
    return step;
  }

  /** Does the next step, and everything that follows from it without waiting. False if nothing is left to do. */
  async step(): Promise<boolean> {
    for (;;) {
      const next = pop(this.#heap);
      if (!next) return false;
      const { owner } = next;
      if (next.isOff || !owner.isAlive) continue;
      this.now = Math.max(this.now, next.at);
      if (owner.isPaused) {
        owner.missed.push(next);
        continue;
      }
      this.steps++;
      current.run(owner, next.run);
      // Every promise that can go on has gone on when the real event loop turns.
      await new Promise((resolve) => realImmediate(resolve));
      return true;
    }
  }

  resume(owner: Owner): void {
    owner.isPaused = false;
    owner.resumedAt = this.now;
    for (const { run, isOff } of owner.missed.splice(0)) if (!isOff) this.plan(0, run, owner);
  }

  /** Runs work as an owner. */
  as<T>(owner: Owner, work: () => T): T {
    return current.run(owner, work);
  }
}

let lastPid = 100;

export const scheduler = new Scheduler();

export function newOwner(name: string, machine = name, pid = lastPid++): Owner {
  return { name, machine, pid, isAlive: true, isPaused: false, resumedAt: 0, missed: [] };
}

/** Whoever is not simulated: the run itself, its faults, its checks. */
export const WORLD: Owner = newOwner('world');

/** Resolves later, for whoever waits now; never if that one is dead by then. */
export function later(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  scheduler.plan(ms, resolve);
  return promise;
}

function isBefore(a: Step, b: Step): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Step[], step: Step): void {
  let at = heap.push(step) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(step, heap[parent] as Step)) break;
    heap[at] = heap[parent] as Step;
    at = parent;
  }
  heap[at] = step;
}

function pop(heap: Step[]): Step | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!first || !last || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Step, heap[child] as Step)) child++;
    if (!isBefore(heap[child] as Step, last)) break;
    heap[at] = heap[child] as Step;
    at = child;
  }
  heap[at] = last;
  return first;
}
