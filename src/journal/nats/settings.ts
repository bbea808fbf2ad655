import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { TeamError } from '../../core/errors.ts';
import { ANSWER, isAnswer, toTeamError } from './errors.ts';
import type { Settings } from './found.ts';
import { listCards } from './hosts.ts';
import { changeLease } from './lease.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';
import { isCluster, listStreams } from './streams.ts';

/** What `troupe journal init` found and did. */
export interface Setup extends Settings {
  readonly leaseMs: number;
  readonly created: boolean;
  /** The settings before, if the journal existed. */
  readonly before?: Settings & { readonly leaseMs: number };
  /** Teams that were changed to fit the settings. */
  readonly changed: number;
}

/** The settings that someone wants. Others stay, and a new journal gets the defaults. `maxBytes: 0` means no limit. */
export type Wanted = Partial<Settings> & {
  /** How long a daemon counts as alive after its last heartbeat. */
  readonly leaseMs?: number;
  /** How long daemons may take to follow a shorter lease; by default longer than a card lasts. */
  readonly followMs?: number;
  /** Gets the names of the daemons that a shorter lease waits for. */
  readonly onWait?: (names: readonly string[]) => void;
};

/** Increased when the storage format changes. */
const FORMAT = 1;

/** The settings of a journal. A missing one is created on a single server; clusters need `journal init`. */
export async function ensureSettings(link: Link): Promise<Settings> {
  const present = await readSettings(link);
  if (present) {
    assertServers(link, present);
    return present;
  }
  if (isCluster(link)) {
    throw new TeamError(
      'storage',
      `There is no journal at ${link.place} yet, and it is a cluster. Create one: troupe journal init ${link.place} --replicas 3`,
    );
  }
  return create(link, { replicas: 1 });
}

/** Creates the journal, or changes it and all its teams to the wanted settings. */
export async function changeSettings(link: Link, change: Wanted): Promise<Setup> {
  const present = await readSettings(link);
  const maxBytes = change.maxBytes ?? present?.maxBytes ?? 0;
  const wanted: Settings = {
    replicas: change.replicas ?? present?.replicas ?? 1,
    ...(maxBytes > 0 && { maxBytes }),
  };
  assertServers(link, wanted);
  const { before, leaseMs } = await changeLease(link, {
    replicas: wanted.replicas,
    leaseMs: change.leaseMs,
    followMs: change.followMs,
    cards: () => listCards(link),
    onWait: change.onWait ?? (() => undefined),
  });
  if (!present) return { ...(await create(link, wanted)), leaseMs, created: true, changed: 0 };
  await update(link, bucketStream(link), { description: describe(wanted), num_replicas: wanted.replicas });
  await update(link, `OBJ_${link.names.packs}`, { num_replicas: wanted.replicas });
  let changed = 0;
  for (const { stream } of await listStreams(link)) {
    const config = { num_replicas: wanted.replicas, max_bytes: wanted.maxBytes ?? -1 };
    if (await update(link, stream, config)) changed++;
  }
  return { ...wanted, leaseMs, created: false, before: { ...present, leaseMs: before }, changed };
}

/** A single server accepts any number of replicas and keeps one. */
function assertServers(link: Link, settings: Settings): void {
  if (settings.replicas > 1 && !isCluster(link)) throw tooFewServers(link, settings);
}

/** The current settings of a journal; undefined if there is none. */
export async function readSettings(link: Link): Promise<Settings | undefined> {
  let info: StreamInfo;
  try {
    info = await patiently(link, () => link.jsm.streams.info(bucketStream(link)));
  } catch (error) {
    if (isAnswer(error, ANSWER.streamNotFound)) return undefined;
    throw error;
  }
  return settingsIn(info.config, link.place);
}

/** The settings in the configuration of a bucket. Throws `unsupported` if a newer version wrote them. */
export function settingsIn(
  { description, num_replicas: replicas }: Pick<StreamConfig, 'description' | 'num_replicas'>,
  place: string,
): Settings {
  const { format, maxBytes } = readDescription(description);
  if (format !== FORMAT) {
    throw new TeamError(
      'unsupported',
      `The journal at ${place} has a format that this version does not know (${JSON.stringify(format)}). Install a newer Troupe.`,
    );
  }
  return { replicas, ...(maxBytes !== undefined && { maxBytes }) };
}

function readDescription(text: string | undefined): { format?: unknown; maxBytes?: number } {
  try {
    return JSON.parse(String(text)) as { format?: unknown; maxBytes?: number };
  } catch {
    return {};
  }
}

function describe({ maxBytes }: Settings): string {
  return JSON.stringify({ format: FORMAT, maxBytes });
}

async function create(link: Link, settings: Settings): Promise<Settings> {
  try {
    await patiently(link, () =>
      new Objm(link.js).create(link.names.snapshots, { replicas: settings.replicas, description: describe(settings) }),
    );
  } catch (error) {
    const isTooMany = isAnswer(error, ANSWER.noSuitablePeers, ANSWER.replicasNotSupported);
    throw isTooMany ? tooFewServers(link, settings, error) : error;
  }
  return (await readSettings(link)) ?? settings;
}

async function update(
  link: Link,
  stream: string,
  change: { num_replicas: number; max_bytes?: number; description?: string },
) {
  try {
    const { config } = await patiently(link, () => link.jsm.streams.info(stream));
    const isSame = Object.entries(change).every(([key, value]) => config[key as keyof typeof config] === value);
    if (isSame) return false;
    await patiently(link, () => link.jsm.streams.update(stream, change));
    return true;
  } catch (error) {
    // Dropped meanwhile.
    if (isAnswer(error, ANSWER.streamNotFound)) return false;
    if (isAnswer(error, ANSWER.noSuitablePeers, ANSWER.replicasNotSupported)) {
      throw tooFewServers(link, { replicas: change.num_replicas }, error);
    }
    throw toTeamError(error, link.place, `change ${stream}`);
  }
}

function tooFewServers(link: Link, { replicas }: Settings, cause?: unknown): TeamError {
  return new TeamError(
    'storage',
    `${link.place} has too few servers with JetStream for ${replicas} replicas. Start more, or ask for fewer.`,
    { cause },
  );
}

function bucketStream(link: Link): string {
  return `OBJ_${link.names.snapshots}`;
}
