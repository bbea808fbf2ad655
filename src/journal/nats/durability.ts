import type { NatsAddress } from './address.ts';

/** What an acknowledged batch survives, and advice to make it safer. */
export interface Durability {
  readonly durability: 'fsync-before-ack' | 'replicated' | 'lazy';
  readonly advice?: string;
}

/** What a server's monitoring says about its JetStream. */
interface JetStreamConfig {
  readonly sync_always?: boolean;
  readonly sync_interval?: number;
}

/** The first version that can flush before it acknowledges. */
const CAN_SYNC = [2, 10] as const;

const CURE = 'set sync_interval: always in the jetstream block of each server';
const MONITOR_MS = 2_000;

/**
 * Whether servers flush before they acknowledge. They say so only on their monitoring port, never to a client. Without
 * monitoring it is known only for servers that are too old to do it.
 */
export async function judgeDurability(
  { monitor }: NatsAddress,
  { version, replicas }: { version: string; replicas: number },
): Promise<Durability> {
  const kept = replicas >= 3 ? 'replicated' : 'lazy';
  const lost = replicas >= 3 ? 'a power failure of most servers at once' : 'a power failure';
  if (isBefore(version, CAN_SYNC)) {
    return {
      durability: kept,
      advice:
        `nats-server ${version} acknowledges before it has flushed, every 2 minutes: ${lost} may lose what was acknowledged` +
        `${replicas >= 3 ? ', and servers may hold different histories after a network partition' : ''}. Upgrade to ${CAN_SYNC.join('.')} or later, and ${CURE}.`,
    };
  }
  if (monitor === undefined) {
    return {
      durability: kept,
      advice:
        'Whether the servers flush before they acknowledge (sync_interval) cannot be asked over NATS. ' +
        `Name their monitoring (?monitor=http://host:8222), or make sure of it: ${CURE}.`,
    };
  }
  const answers = await Promise.all(monitor.split(',').map(askMonitor));
  const silent = answers.find(({ config }) => config === undefined);
  if (silent) {
    return {
      durability: kept,
      advice: `The monitoring at ${silent.url} does not answer: it is unknown when the servers flush.`,
    };
  }
  const late = answers.map(({ url, config }) => ({ url, ...config })).find(({ sync_always }) => sync_always !== true);
  if (!late) return { durability: 'fsync-before-ack' };
  const interval = late.sync_interval;
  const every = interval === undefined ? '' : `, every ${Math.round(interval / 1e9)} s`;
  return {
    durability: kept,
    advice: `${late.url} acknowledges before it has flushed${every}: ${lost} may lose what was acknowledged. To fix it, ${CURE}.`,
  };
}

/** Without `config` it does not answer. */
async function askMonitor(url: string): Promise<{ url: string; config?: JetStreamConfig }> {
  try {
    const response = await fetch(new URL('/varz', url), { signal: AbortSignal.timeout(MONITOR_MS) });
    if (!response.ok) return { url };
    const { jetstream } = (await response.json()) as { jetstream?: { config?: JetStreamConfig } };
    return { url, config: jetstream?.config ?? {} };
  } catch {
    return { url };
  }
}

/** Whether a version such as `2.9.10` is older than the given major and minor version. */
export function isBefore(version: string, [major, minor]: readonly [number, number]): boolean {
  const [own = 0, sub = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return own < major || (own === major && sub < minor);
}
