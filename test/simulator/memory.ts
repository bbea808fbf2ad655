import { join } from 'node:path';
import { bestReady } from '../../src/core/ready.ts';
import { openSnapshot, takeSnapshot } from '../../src/core/snapshot.ts';
import type { TeamState } from '../../src/core/state.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { TEAM } from './cast.ts';
import type { Checks } from './checks.ts';
import type { Machine } from './machine.ts';
import { NATS_URL } from './nats/world.ts';
import { later, newOwner, scheduler } from './scheduler.ts';
import type { Owner } from './scheduler.ts';
import type { World } from './world.ts';

/** How often it looks again at a daemon that has not heard of the last batch, and how long it waits in between. */
const LOOKS = 20;
const LOOK_MS = 500;

/**
 * Compares what every daemon has in memory with what the stored batches give, then ends all daemons, and compares what
 * new ones read. Returns whether that is over.
 */
export function compareMemory(world: World): () => boolean {
  let isOver = false;
  void compareAll(world)
    .catch((error: unknown) => world.checks.fail(`The state cannot be read: ${(error as Error).stack}`))
    .finally(() => (isOver = true));
  return () => isOver;
}

/** After a write that failed, a daemon looks as long as this for others that fail, in simulated milliseconds. */
const REFUSED_MS = 300;

/**
 * A journal whose failed writes are followed by a comparison: what a daemon decided for them is not in its memory any
 * more. `ledgerOf` gives the ledger that uses it.
 */
export function withoutTraces(journal: Journal, checks: Checks, ledgerOf: () => Ledger): Journal {
  const { name } = scheduler.owner();
  let isPlanned = false;
  const look = async (): Promise<void> => {
    isPlanned = false;
    await ledgerOf().view(TEAM, (state, seq) => {
      if (seq === checks.counts.batches) requireSame(checks, `After a failed write, the ${name}`, state);
    });
  };
  return {
    ...journal,
    append(...args) {
      const appended = journal.append(...args);
      appended.catch(() => {
        if (isPlanned) return;
        isPlanned = true;
        // What cannot be read now is compared in the end.
        scheduler.plan(REFUSED_MS, () => void look().catch(() => {}));
      });
      return appended;
    },
  };
}

async function compareAll(world: World): Promise<void> {
  const { checks, machines } = world;
  for (const { name, daemon } of machines) {
    if (!daemon) continue;
    const { owner, services } = daemon;
    await compare(world, { name: `The daemon of ${name}`, owner, ledger: services.ledger });
  }
  const snapshot = openSnapshot(TEAM, takeSnapshot(checks.state));
  if (snapshot) requireSame(checks, 'A snapshot', snapshot);
  for (const machine of machines) machine.kill();
  for (const machine of machines) {
    const owner = newOwner(`reader on ${machine.name}`, machine.name);
    const ledger = await as(owner, () => openLedger(world, machine));
    await compare(world, { name: `A new daemon of ${machine.name}`, owner, ledger });
  }
}

async function openLedger(world: World, { name, directory }: Machine): Promise<Ledger> {
  const open = async (): Promise<Journal> => {
    if (world.isOnNats) return natsJournal(NATS_URL);
    if (world.isInFile) return sqliteJournal(join(directory, 'journal.sqlite'), { exclusive: true });
    return world.storeOf(name).journal();
  };
  return new Ledger(await open(), { exclusive: !world.isShared });
}

/** Looks until a ledger has the last batch. */
async function compare(
  world: World,
  { name, owner, ledger }: { name: string; owner: Owner; ledger: Ledger },
): Promise<void> {
  const { checks } = world;
  for (let look = 0; look < LOOKS; look++) {
    const isLast = await as(owner, () =>
      ledger.view(TEAM, (state, seq) => {
        if (seq !== checks.counts.batches) return false;
        requireSame(checks, name, state);
        return true;
      }),
    );
    if (isLast) return;
    await later(LOOK_MS);
  }
  checks.fail(`${name} does not know batch ${checks.counts.batches}`);
}

/** Does something as an owner, and says what became of it. */
function as<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  scheduler.plan(1, () => void work().then(resolve, reject), owner);
  return promise;
}

function requireSame(checks: Checks, name: string, state: TeamState): void {
  const [theirs, ours] = [picture(state), picture(checks.state)];
  const at = [...theirs.keys(), ...ours.keys()].find((key) => theirs.get(key) !== ours.get(key));
  checks.require(
    at === undefined,
    `${name} has another state than the journal gives, ${at}: ${theirs.get(at ?? '')} instead of ${ours.get(at ?? '')}`,
  );
}

/**
 * A state as text, by place. The heaps of ready tasks and what is parked keep outdated entries on purpose: what they
 * offer counts. Sets have no order, and an empty one is the same as none.
 */
function picture(state: TeamState): ReadonlyMap<string, string> {
  const { index, undo, ...tables } = state;
  const { free: _free, reserved: _reserved, parked: _parked, oldReceipts: _oldReceipts, ...kept } = index;
  const lines = new Map<string, string>([['undo', String(undo?.length ?? 0)]]);
  for (const [name, table] of Object.entries({ ...tables, ...kept })) {
    if (!(table instanceof Map)) lines.set(name, textOf(table));
    else {
      const entries = [...(table as Map<string, unknown>)].filter(([, value]) => !isEmpty(value));
      for (const [key, value] of entries) lines.set(`${name} ${key}`, textOf(value));
      if (name in tables) lines.set(`order of ${name}`, entries.map(([key]) => key).join());
    }
  }
  for (const id of state.members.keys()) lines.set(`best task for ${id}`, String(bestReady(state, id)?.id));
  return lines;
}

function isEmpty(value: unknown): boolean {
  return value instanceof Set && value.size === 0;
}

function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part: unknown) => {
      if (part instanceof Set) return [...(part as Set<string>)].toSorted();
      if (part instanceof Map) return [...(part as Map<string, unknown>)];
      if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
      return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    }) ?? ''
  );
}
