import type { Fault } from './fault.ts';
import { scheduler } from './scheduler.ts';

const random = () => scheduler.random('faults');

/** What goes wrong between machines, and between a daemon and its clients. */
export const NETWORK_FAULTS: readonly Fault[] = [
  {
    name: 'a machine is cut off',
    weight: 3,
    isShared: true,
    strike(world) {
      const { name } = random().pick(world.machines);
      if (world.network.parted.has(name)) return undefined;
      world.network.parted.add(name);
      world.later(random().between(100, 20_000), () => world.network.parted.delete(name));
      return name;
    },
  },
  {
    name: 'the network loses messages',
    weight: 2,
    isShared: true,
    strike(world) {
      const { network } = world;
      network.loss = random().between(0.05, 0.5);
      network.slowest = random().between(5, 500);
      network.repeats = random().between(0, 0.3);
      world.later(random().between(500, 10_000), () => Object.assign(network, { loss: 0, repeats: 0, slowest: 5 }));
      return `${Math.round(network.loss * 100)} %`;
    },
  },
  {
    name: 'connections to a daemon break',
    weight: 2,
    strike(world) {
      const { daemon, name } = random().pick(world.machines);
      if (!daemon?.isOpen) return undefined;
      for (const tell of daemon.onGone) tell();
      return name;
    },
  },
];
