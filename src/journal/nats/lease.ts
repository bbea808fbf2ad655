import { setTimeout as sleep } from 'node:timers/promises';
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { StreamConfig } from '@nats-io/jetstream';
import { TeamError } from '../../core/errors.ts';
import type { HostCard } from '../hosts.ts';
import { ANSWER, isAnswer } from './errors.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';

/** How long a daemon is taken for alive after it was last heard of, where nobody said otherwise. */
export const LEASE_MS = 30_000;

const NS_PER_MS = 1_000_000;

/** How often to look whether all daemons follow. */
const LOOK_MS = 200;

type HostsConfig = Pick<StreamConfig, 'max_age' | 'description'>;

/** The lease that daemons renew themselves by: how long cards last, or the shorter one that is to come. */
export function leaseIn(config: HostsConfig): number {
  const lasting = config.max_age / NS_PER_MS;
  return Math.min(lasting, comingIn(config.description) ?? lasting);
}

function comingIn(description: string | undefined): number | undefined {
  try {
    const { leaseMs } = JSON.parse(description ?? '') as { leaseMs?: unknown };
    return typeof leaseMs === 'number' && leaseMs > 0 ? leaseMs : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the place for the cards where there is none; returns how it is kept, which is the same for all daemons. */
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
  // What another daemon is making may have its name already and not be there yet.
  return patiently(link, ensure, (error) => isAnswer(error, ANSWER.streamNotFound));
}

function lasting(leaseMs: number) {
  return {
    max_age: leaseMs * NS_PER_MS,
    description: JSON.stringify({ leaseMs }),
    // It may not be longer than the messages last.
    duplicate_window: Math.min(leaseMs, 120_000) * NS_PER_MS,
  };
}

/** How the lease was changed. */
export interface LeaseChange {
  readonly replicas: number;
  /** What stays where it is not given. */
  readonly leaseMs: number | undefined;
  /** How long daemons may take to follow a shorter one, where that is not to follow from the lease before. */
  readonly followMs?: number | undefined;
  readonly cards: () => Promise<HostCard[]>;
  /** Hears once that it takes a while, and whom it is for. */
  readonly onWait: (names: readonly string[]) => void;
}

/**
 * Changes how long the cards of daemons last; returns how long they lasted and last. A shorter time is told to the daemons
 * first, and holds once each card that is there was renewed by it: else those that renew theirs by the longer one would
 * be taken for dead.
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
  // A card that nobody renews is over after one lease; half of one more for servers that elect a leader meanwhile.
  const giveUp = performance.now() + followMs;
  for (let isTold = false; ; await sleep(LOOK_MS)) {
    const behind = (await cards()).filter((card) => (card.leaseMs ?? Infinity) > leaseMs).map(({ name }) => name);
    if (behind.length === 0) return;
    if (!isTold) onWait(behind);
    isTold = true;
    if (performance.now() < giveUp) continue;
    throw new TeamError(
      'conflict',
      `The lease stays ${before / 1000} s: ${behind.join(', ')} did not follow, and would be taken for dead. ` +
        'Stop those daemons, or give them this version of Troupe, then say it again.',
    );
  }
}
