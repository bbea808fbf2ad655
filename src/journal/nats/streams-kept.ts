import { shorten } from '../../core/text.ts';
import type { Link } from './link.ts';
import { infoOf, listStreams, teamIn } from './streams.ts';
import type { Settings } from './streams.ts';

/** A team whose stream is not kept as the journal's settings say. */
export interface OddTeam {
  readonly team: string;
  readonly replicas: number;
  readonly maxBytes?: number;
}

/** How the streams of a journal are kept. */
export interface KeptStreams {
  readonly teams: number;
  readonly odd: readonly OddTeam[];
  /** Teams of which a server that should have a replica is away or behind. */
  readonly lagging: readonly string[];
}

/** How many names are told where there may be thousands. */
const TOLD = 5;

/** Looks at the streams of all teams. */
export async function lookAtStreams(link: Link, settings: Settings): Promise<KeptStreams> {
  // One by one: a list of all waits for streams that have no leader, and daemons need no permission for it otherwise.
  const streams = await listStreams(link);
  const infos = (await Promise.all(streams.map(({ stream }) => infoOf(link, stream)))).filter(
    (info) => info !== undefined,
  );
  const bound = settings.maxBytes ?? -1;
  return {
    teams: infos.filter(({ state }) => state.last_seq > 0).length,
    odd: infos
      .filter(({ config }) => config.num_replicas !== settings.replicas || config.max_bytes !== bound)
      .map(({ config }) => ({
        team: teamIn(link, config),
        replicas: config.num_replicas,
        ...(config.max_bytes > 0 && { maxBytes: config.max_bytes }),
      })),
    lagging: infos
      .filter(({ cluster }) => cluster?.replicas?.some(({ offline, current }) => offline || !current))
      .map(({ config }) => teamIn(link, config)),
  };
}

/** `a, b, c and 4 more`. */
export function nameTeams(names: readonly string[]): string {
  const told = names.slice(0, TOLD).map((name) => shorten(name, 64));
  const left = names.length - told.length;
  return left > 0 ? `${told.join(', ')} and ${left} more` : told.join(', ');
}

/** What to do about teams that are kept otherwise; undefined where all is well, or that is not told at the moment. */
export async function adviseOnStreams(link: Link, settings: Settings): Promise<string | undefined> {
  const kept = await lookAtStreams({ ...link, patienceMs: 0 }, settings).catch(() => undefined);
  return kept && kept.odd.length > 0 ? oddAdvice(link.place, settings, kept.odd) : undefined;
}

/** Which teams are kept otherwise, and what cures it. */
export function oddAdvice(place: string, { replicas, maxBytes }: Settings, odd: readonly OddTeam[]): string {
  const wanted = `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}, ${maxBytes === undefined ? 'no bound' : `${maxBytes} bytes`}`;
  const names = nameTeams(odd.map(({ team }) => team));
  return `Not kept as the journal is set up (${wanted}): ${names}. Say it again: troupe journal init ${place}`;
}
