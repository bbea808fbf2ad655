import type { TeamError } from '../../core/errors.ts';
import { readNatsAddress, showAddress } from './address.ts';
import { reachServers, versionOf } from './connect.ts';
import { judgeDurability } from './durability.ts';
import { toTeamError } from './errors.ts';
import type { NatsInspection } from './found.ts';
import { listCards } from './hosts.ts';
import { leaseIn } from './lease.ts';
import { openLink } from './link.ts';
import type { Link } from './link.ts';
import { requireMarked } from './lost.ts';
import { readSettings } from './settings.ts';
import { lookAtStreams, oddAdvice } from './streams-kept.ts';
import { infoOf } from './streams.ts';

/** A person waits in front of a screen and can repeat the command after an election. */
const PATIENCE_MS = 3_000;

/** Inspects the servers and the journal at an address, and compares it with a daemon's mark; changes nothing. */
export async function inspectNatsJournal(
  url: string,
  { base, mark }: { base: string; mark: string },
): Promise<NatsInspection> {
  const address = readNatsAddress(url, base);
  const place = showAddress(address);
  const servers = await reachServers(address);
  const closing = new AbortController();
  let link: Link | undefined;
  try {
    link = await openLink(address, { patienceMs: PATIENCE_MS, closing: closing.signal });
    const version = versionOf(link.nc);
    await requireMarked(link, mark);
    const settings = await readSettings(link);
    if (!settings) return { place, servers, version };
    const [durability, cards, hosts, kept] = await Promise.all([
      judgeDurability(address, { version, replicas: settings.replicas }),
      infoOf(link, link.names.hosts),
      listCards(link).catch(() => []),
      lookAtStreams(link, settings),
    ]);
    const advice = oddAdvice(place, settings, kept.odd);
    const leaseMs = cards && leaseIn(cards.config);
    const journal = { ...settings, ...kept, leaseMs, durability, hosts, ...(advice !== undefined && { advice }) };
    return { place, servers, version, journal };
  } catch (error) {
    return { place, servers, failure: toTeamError(error, place, 'look at the journal') as TeamError };
  } finally {
    closing.abort();
    await link?.nc.close();
  }
}
