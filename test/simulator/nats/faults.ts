import type { Fault } from '../fault.ts';
import { scheduler } from '../scheduler.ts';
import type { World } from '../world.ts';
import type { SimulatedNats } from './servers.ts';

const random = () => scheduler.random('faults');

/** A fault of the servers. */
function fault(
  name: string,
  weight: number,
  strike: (servers: SimulatedNats, world: World) => string | undefined,
): Fault {
  return {
    name,
    weight,
    isOnNats: true,
    strike: (world) => (world.nats ? strike(world.nats, world) : undefined),
  };
}

export const NATS_FAULTS: readonly Fault[] = [
  fault('a server is killed', 4, (servers, world) => {
    const node = random().pick(servers.nodes);
    if (!node.isUp) return undefined;
    servers.kill(node);
    world.later(random().between(100, 15_000), () => servers.start(node));
    return node.name;
  }),
  fault('a server is stopped for a while', 2, (servers, world) => {
    const node = random().pick(servers.nodes);
    if (!node.isUp || node.isPaused) return undefined;
    servers.pause(node);
    world.later(random().between(500, 20_000), () => servers.resume(node));
    return node.name;
  }),
  fault('servers are cut off from each other', 4, (servers, world) => {
    const node = random().pick(servers.nodes);
    servers.part([node]);
    world.later(random().between(500, 20_000), () => servers.part([]));
    return node.name;
  }),
  fault('leaders step down', 4, (servers) => {
    const streams = [...servers.jetstream.streams.values()].filter(() => random().chance(0.7));
    for (const stream of streams) stream.stepDown();
    return `${streams.length}`;
  }),
  fault('connections to a server break', 3, (servers) => {
    const node = random().pick(servers.nodes);
    servers.disconnect(node);
    return node.name;
  }),
  fault('replicas are slow', 3, ({ storage }, world) => {
    storage.slowest = random().between(50, 4_000);
    world.later(random().between(1_000, 15_000), () => (storage.slowest = 5));
    return `${Math.round(storage.slowest)} ms`;
  }),
  fault('answers are late, lost or come twice', 3, ({ routes }, world) => {
    Object.assign(routes, {
      slowest: random().between(5, 2_500),
      loss: random().between(0, 0.4),
      repeats: random().between(0, 0.4),
    });
    world.later(random().between(500, 10_000), () => Object.assign(routes, CALM));
    return `${Math.round(routes.loss * 100)} %`;
  }),
  fault('the servers have no room', 2, ({ storage }, world) => {
    storage.isFull = true;
    world.later(random().between(100, 6_000), () => (storage.isFull = false));
    return '';
  }),
];

const CALM = { slowest: 1, loss: 0, repeats: 0 };

/** The servers work again. */
export function healServers(servers: SimulatedNats): void {
  Object.assign(servers.storage, { slowest: 5, isFull: false });
  Object.assign(servers.routes, CALM);
  for (const node of servers.nodes) {
    if (node.isPaused) servers.resume(node);
    if (!node.isUp) servers.start(node);
  }
  servers.part([]);
}
