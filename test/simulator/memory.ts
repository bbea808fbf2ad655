import { join } from 'node:path';
import { openSnapshot, takeSnapshot } from '../../src/core/snapshot.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { TEAM } from './cast.ts';
import type { Machine } from './machine.ts';
import { NATS_URL } from './nats/world.ts';
import { later, newOwner, scheduler } from './scheduler.ts';
import type { Owner } from './scheduler.ts';
import { requireSame } from './traces.ts';
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
