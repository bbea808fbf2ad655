import { TeamError } from '../../src/core/errors.ts';
import type { Fault } from './fault.ts';
import { openInFile } from './machine.ts';
import { newOwner, scheduler } from './scheduler.ts';
import { Killed } from './stand-ins/files.ts';
import { sqlite } from './stand-ins/sqlite.ts';

const random = () => scheduler.random('faults');

/** What goes wrong with the simulated stores. */
export const STORE_FAULTS: readonly Fault[] = [
  {
    name: 'a store refuses to write',
    weight: 2,
    isOfStore: true,
    strike(world) {
      const store = random().pick(world.stores());
      store.refusing = random().between(0.1, 1);
      world.later(random().between(100, 5_000), () => (store.refusing = 0));
      return store.owner.name;
    },
  },
  {
    name: 'a store cannot be read',
    weight: 1,
    isOfStore: true,
    strike(world) {
      const store = random().pick(world.stores());
      store.failing = random().between(0.1, 1);
      world.later(random().between(100, 5_000), () => (store.failing = 0));
      return store.owner.name;
    },
  },
  {
    name: 'a store is slow',
    weight: 3,
    isOfStore: true,
    strike(world) {
      const store = random().pick(world.stores());
      store.slowest = random().between(20, 600);
      world.later(random().between(1_000, 20_000), () => (store.slowest = 0));
      return `${Math.round(store.slowest)} ms`;
    },
  },
];

/** What goes wrong with the real journal on SQLite. */
export const FILE_FAULTS: readonly Fault[] = [
  {
    name: 'the daemon is killed between two statements',
    weight: 8,
    isInFile: true,
    strike(world) {
      const calls = 1 + random().below(60);
      sqlite.killAfter = calls;
      sqlite.kill = (owner) => {
        world.log(`${owner.name} is killed`);
        const machine = world.machines[0];
        owner.isAlive = false;
        machine?.kill(owner);
        world.later(random().between(50, 9_000), () => machine?.start());
      };
      return `after ${calls}`;
    },
  },
  {
    name: 'the machine loses power while the journal is written',
    weight: 5,
    isInFile: true,
    strike(world) {
      const calls = 1 + random().below(60);
      sqlite.tearAfter = calls;
      sqlite.isCarrying = random().chance(0.4);
      sqlite.kill = (owner) => {
        world.log(`${owner.machine} loses power`);
        const machine = world.machines[0];
        owner.isAlive = false;
        machine?.kill(owner);
        machine?.lose();
        world.later(random().between(500, 9_000), () => machine?.start());
      };
      return `after ${calls}${sqlite.isCarrying ? ', with the log' : ''}`;
    },
  },
  {
    name: 'somebody starts another daemon on the same files',
    weight: 4,
    isInFile: true,
    strike(world) {
      const [machine] = world.machines;
      if (!machine) return undefined;
      const owner = newOwner(`other daemon of ${machine.name}`, machine.name);
      const end = (): void => {
        owner.isAlive = false;
        sqlite.forget(owner);
      };
      const start = (): void => {
        try {
          openInFile(machine.directory, world.checks);
          world.log('it has the journal');
          world.later(random().between(100, 5_000), end);
        } catch (error) {
          end();
          if (!(error instanceof TeamError || error instanceof Killed)) throw error;
        }
      };
      scheduler.plan(1, start, owner);
      return machine.name;
    },
  },
  {
    name: 'the disk of the journal is full or fails',
    weight: 5,
    isInFile: true,
    strike(world) {
      const isFull = random().chance(0.5);
      const [read, write] = [isFull ? 0 : random().between(0, 0.3), random().between(0.1, 1)];
      sqlite.trouble = { read, write, code: isFull ? 'FULL' : 'IOERR' };
      world.later(random().between(100, 9_000), () => (sqlite.trouble = undefined));
      return sqlite.trouble.code;
    },
  },
];
