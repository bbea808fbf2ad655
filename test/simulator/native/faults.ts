import type { Fault } from '../fault.ts';
import { scheduler } from '../scheduler.ts';
import { disk } from '../stand-ins/files.ts';

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
      disk.kill = (owner) => {
        world.log(`${owner.name} is killed`);
        const machine = world.machines[0];
        owner.isAlive = false;
        machine?.kill(owner);
        world.later(random().between(50, random().chance(0.3) ? 25_000 : 3_000), () => machine?.start());
      };
      return `after ${calls}`;
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
