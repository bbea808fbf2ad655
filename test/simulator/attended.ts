import { isExpected } from '../../src/core/state.ts';
import { gates, members, runsMember } from './processes.ts';
import { scheduler } from './scheduler.ts';
import { sqlite } from './stand-ins/sqlite.ts';
import type { World } from './world.ts';

/** How often it looks, in simulated milliseconds. */
const LOOK_MS = 500;

/** How long a member may be without a process while nothing is in the way. Its restart has a pause of 2 seconds at most. */
const ALONE_MS = 10_000;

/** The same if it has no machine, or its machine is gone: a lease has to end first, and each machine waits for its turn. */
const HOMELESS_MS = 35_000;

/** How long a gate may go on without a daemon that waits for it. */
const FORSAKEN_MS = 10_000;

/** Looks now and then whether every member that should run does. Whoever is forgotten could wait for ever. */
export function watchMembers(world: World): () => void {
  const { checks, machines, isShared } = world;
  let next = 0;
  /** Since when nothing is wrong with a machine, and since when with any of them. */
  const soundSince = new Map(machines.map(({ name }) => [name, 0]));
  const missingSince = new Map<string, number>();
  /** Where each member was placed last, and when. */
  const placed = new Map<string, { hostId: string | undefined; since: number }>();
  const forsakenSince = new Map<string, number>();

  function look(): void {
    const { now } = scheduler;
    const { network, gitAway, native } = world;
    const areStoresCalm = world.stores().every((store) => !store.isFailing) && world.nats?.isCalm !== false;
    const isCalm = network.loss === 0 && network.slowest <= 5 && areStoresCalm;
    for (const machine of machines) {
      const { daemon, name } = machine;
      const isSound =
        isCalm &&
        daemon?.isOpen === true &&
        daemon.isStarted &&
        !daemon.owner.isPaused &&
        !network.parted.has(name) &&
        !network.busy.has(name) &&
        (gitAway.get(name) ?? 0) <= now &&
        native?.isTroubled !== true &&
        sqlite.trouble === undefined;
      if (!isSound) soundSince.set(name, now);
    }
    const allSince = Math.max(...soundSince.values());
    for (const member of checks.state.members.values()) {
      const { id, agent, hostId, status } = member;
      const isMissing =
        agent !== undefined &&
        isExpected(member) &&
        !members().some((process) => runsMember(process, id) && (!isShared || process.machine === hostId));
      if (!isMissing) missingSince.delete(id);
      const since = missingSince.get(id) ?? now;
      if (isMissing) missingSince.set(id, since);
      if (placed.get(id)?.hostId !== hostId) placed.set(id, { hostId, since: now });
      const placedSince = placed.get(id)?.since ?? now;
      const alone = now - Math.max(since, placedSince, soundSince.get(hostId ?? '') ?? allSince);
      const isHere = hostId !== undefined && soundSince.has(hostId);
      if (isMissing && (isHere || !isShared)) {
        checks.require(alone < ALONE_MS, `${id} (${status}) has had no process on ${hostId} for ${alone} ms`);
      }
      const homeless = now - Math.max(since, allSince);
      checks.require(!isMissing || homeless < HOMELESS_MS, `${id} (${status}) has had no process for ${homeless} ms`);
    }
    for (const { marker, machine } of gates()) {
      const isForsaken = (soundSince.get(machine) ?? 0) < now && !world.gates.isWaited(machine);
      if (!isForsaken) forsakenSince.delete(marker);
      else if (!forsakenSince.has(marker)) forsakenSince.set(marker, now);
      const since = Math.max(forsakenSince.get(marker) ?? now, soundSince.get(machine) ?? now);
      checks.require(now - since < FORSAKEN_MS, `A gate of ${machine} runs, and nobody waits for it: ${marker}`);
    }
  }

  return () => {
    if (scheduler.now < next) return;
    next = scheduler.now + LOOK_MS;
    look();
  };
}
