import type { Fault } from '../fault.ts';
import { scheduler } from '../scheduler.ts';
import type { Owner } from '../scheduler.ts';
import { disk } from '../stand-ins/files.ts';
import type { World } from '../world.ts';

/** Kills the daemon in the middle of a call, and starts it again later. */
function killFor(world: World, owner: Owner, ms: number): void {
  world.log(`${owner.name} is killed`);
  const machine = world.machines[0];
  owner.isAlive = false;
  machine?.kill(owner);
  world.later(ms, () => machine?.start());
}

const random = () => scheduler.random('faults');

/** What goes wrong with the files and the processes of a native team, and with a daemon that uses them. */
export const NATIVE_FAULTS: readonly Fault[] = [
  {
    name: 'the daemon is killed between two calls about files',
    weight: 8,
    isNative: true,
    strike(world) {
      const calls = 1 + random().below(90);
      disk.killAfter = calls;
      disk.kill = (owner) => killFor(world, owner, random().between(50, random().chance(0.3) ? 25_000 : 3_000));
      return `after ${calls}`;
    },
  },
  {
    name: 'the daemon is killed after one of ours has claimed a task',
    weight: 4,
    isNative: true,
    strike(world) {
      const calls = 1 + random().below(3);
      world.claimed = () => {
        disk.killAfter = calls;
        disk.kill = (owner) => {
          killFor(world, owner, random().between(500, 15_000));
          for (const ms of [50, 300, 900]) world.later(ms, () => world.native?.takeTask());
        };
      };
      return `before call ${calls} about files`;
    },
  },
  {
    name: 'natives take tasks while ours claim some',
    weight: 4,
    isNative: true,
    strike(world) {
      const ms = random().between(3_000, 20_000);
      const [store] = world.stores();
      if (!world.native || !store) return undefined;
      world.native.racesUntil = scheduler.now + ms;
      // What is decided during one commit goes into the next one, together.
      store.slowest = random().between(0, 300);
      world.later(ms, () => (store.slowest = 0));
      return `${Math.round(ms)} ms`;
    },
  },
  {
    name: 'native files cannot be read or written',
    weight: 4,
    isNative: true,
    strike(world) {
      const isFull = random().chance(0.5);
      const [read, write] = [isFull ? 0 : random().between(0, 0.5), random().between(0.1, 1)];
      disk.trouble = { read, write, code: isFull ? 'ENOSPC' : 'EIO' };
      world.later(random().between(100, 9_000), () => (disk.trouble = undefined));
      return disk.trouble.code;
    },
  },
  {
    name: 'a native process is killed',
    weight: 6,
    isNative: true,
    strike(world) {
      const claude = random().pick(world.native?.claudes ?? []);
      claude.diesAfter = 1 + random().below(60);
      return claude.name;
    },
  },
  {
    name: 'a native process is stopped for a while',
    weight: 3,
    isNative: true,
    strike(world) {
      const { owner, name } = random().pick(world.native?.claudes ?? []);
      if (!owner.isAlive || owner.isPaused) return undefined;
      owner.isPaused = true;
      world.later(random().between(100, 4_000), () => scheduler.resume(owner));
      return name;
    },
  },
  {
    name: 'nobody hears of changed files',
    weight: 2,
    isNative: true,
    strike(world) {
      disk.files.deafness = random().between(0.3, 1);
      world.later(random().between(500, 12_000), () => (disk.files.deafness = 0.02));
      return '';
    },
  },
];
