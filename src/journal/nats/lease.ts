import { setTimeout as sleep } from 'node:timers/promises';
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { StreamConfig } from '@nats-io/jetstream';
import { TeamError } from '../../core/errors.ts';
import type { HostCard } from '../hosts.ts';
import { ANSWER, isAnswer } from './errors.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';

/** How long a daemon counts as alive after its last heartbeat, by default. */
export const LEASE_MS = 30_000;

const NS_PER_MS = 1_000_000;

/** How often to check whether all daemons follow the new lease. */
const LOOK_MS = 200;

type HostsConfig = Pick<StreamConfig, 'max_age' | 'description'>;

/** The lease that daemons use: how long cards last, or a shorter one that was announced. */
export function leaseIn(config: HostsConfig): number {
  const lasting = config.max_age / NS_PER_MS;
  return Math.min(lasting, comingIn(config.description) ?? lasting);
}

function comingIn(description: string | undefined): number | undefined {
  try {
    const { leaseMs } = JSON.parse(String(description)) as { leaseMs?: unknown };
    return typeof leaseMs === 'number' && leaseMs > 0 ? leaseMs : undefined;
  } catch {
    return undefined;
  }
}

/** Creates the stream of the cards if it is missing; returns its configuration, which is the same for all daemons. */
export async function ensureStream(
  link: Link,
  { replicas, leaseMs }: { replicas: number; leaseMs: number },
): Promise<HostsConfig & { num_replicas: number }> {
  const name = link.names.hosts;
  const ensure = async () => {
    try {
      return (await link.jsm.streams.info(name)).config;
    } catch (error) {
      if (!isAnswer(error, ANSWER.streamNotFound)) throw error;
    }
    try {
      const made = await link.jsm.streams.add({
        name,
        subjects: [link.names.host('>')],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        discard: DiscardPolicy.Old,
        max_msgs_per_subject: 1,
        ...lasting(leaseMs),
        num_replicas: replicas,
        allow_direct: false,
      });
      return made.config;
    } catch (error) {
      // Another daemon was first; its lease holds.
      if (!isAnswer(error, ANSWER.streamNameInUse)) throw error;
      return (await link.jsm.streams.info(name)).config;
    }
  };
  // A stream that another daemon is creating may reserve its name before it exists.
  return patiently(link, ensure, (error) => isAnswer(error, ANSWER.streamNotFound));
}

function lasting(leaseMs: number) {
  return {
    max_age: leaseMs * NS_PER_MS,
    description: JSON.stringify({ leaseMs }),
    // The server allows no window longer than `max_age`.
    duplicate_window: Math.min(leaseMs, 120_000) * NS_PER_MS,
  };
}

/** A change of the lease. */
export interface LeaseChange {
  readonly replicas: number;
  /** Unchanged if not given. */
  readonly leaseMs: number | undefined;
  /** How long daemons may take to follow a shorter lease; by default derived from the previous lease. */
  readonly followMs?: number | undefined;
  readonly cards: () => Promise<HostCard[]>;
  /** Called once if daemons still have to follow, with their names. */
  readonly onWait: (names: readonly string[]) => void;
}

/**
 * Changes how long the cards of daemons last; returns the lease before and now. A shorter lease is announced first and
 * takes effect once every card was renewed by it. Otherwise daemons that still renew by the longer one would be taken
 * for dead.
 */
export async function changeLease(link: Link, change: LeaseChange): Promise<{ before: number; leaseMs: number }> {
  const { replicas } = change;
  const present = await ensureStream(link, { replicas, leaseMs: change.leaseMs ?? LEASE_MS });
  const before = present.max_age / NS_PER_MS;
  const { leaseMs = before } = change;
  const update = (config: Partial<StreamConfig>) =>
    patiently(link, () => link.jsm.streams.update(link.names.hosts, config));
  if (leaseMs < before) {
    await update({ description: JSON.stringify({ leaseMs }) });
    try {
      await untilFollowed(link, { ...change, leaseMs, before });
    } catch (error) {
      await update({ description: present.description ?? '' });
      throw error;
    }
  }
  if (leaseMs !== before) await update(lasting(leaseMs));
  if (present.num_replicas !== replicas) await update({ num_replicas: replicas });
  return { before, leaseMs };
}

async function untilFollowed(
  link: Link,
  {
    leaseMs,
    before,
    cards,
    onWait,
    followMs = 1.5 * before + link.patienceMs,
  }: LeaseChange & { leaseMs: number; before: number },
): Promise<void> {
  // A card that is not renewed expires after one lease. Half a lease more allows for an election meanwhile.
  const giveUp = performance.now() + followMs;
  for (let isTold = false; ; await sleep(LOOK_MS)) {
    const behind = (await cards()).filter((card) => (card.leaseMs ?? Infinity) > leaseMs).map(({ name }) => name);
    if (behind.length === 0) return;
    if (!isTold) onWait(behind);
    isTold = true;
    if (performance.now() < giveUp) continue;
    throw new TeamError(
      'conflict',
      `The lease stays ${before / 1000} s: ${behind.join(', ')} did not adopt it, and would count as dead. ` +
        'Stop those daemons, or update Troupe there, then run this again.',
    );
  }
}
