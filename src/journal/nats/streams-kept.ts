import type { StreamInfo } from '@nats-io/jetstream';
import { shorten } from '../../core/text.ts';
import type { KeptStreams, OddTeam, Settings } from './found.ts';
import type { Link } from './link.ts';
import { infoOf, listStreams, teamIn } from './streams.ts';

/** How many names to list when there may be thousands. */
const TOLD = 5;

/** Checks the streams of all teams. */
export async function lookAtStreams(link: Link, settings: Settings): Promise<KeptStreams> {
  // One by one: a list of all would wait for streams without a leader, and needs a permission that daemons lack.
  const streams = await listStreams(link);
  const infos = (await Promise.all(streams.map(({ stream }) => infoOf(link, stream)))).filter(
    (info) => info !== undefined,
  );
  return keptIn(infos, settings);
}

/** The state of these streams, which should have the settings. */
export function keptIn(infos: readonly StreamInfo[], settings: Settings): KeptStreams {
  const bound = settings.maxBytes ?? -1;
  return {
    teams: infos.filter(({ state }) => state.last_seq > 0).length,
    odd: infos
      .filter(({ config }) => config.num_replicas !== settings.replicas || config.max_bytes !== bound)
      .map(({ config }) => ({
        team: teamIn(config),
        replicas: config.num_replicas,
        ...(config.max_bytes > 0 && { maxBytes: config.max_bytes }),
      })),
    lagging: infos
      .filter(({ cluster }) => cluster?.replicas?.some(({ offline, current }) => offline || !current))
      .map(({ config }) => teamIn(config)),
  };
}

/** `a, b, c and 4 more`. */
function nameTeams(names: readonly string[]): string {
  const told = names.slice(0, TOLD).map((name) => shorten(name, 64));
  const left = names.length - told.length;
  return left > 0 ? `${told.join(', ')} and ${left} more` : told.join(', ');
}

/** Names the teams that differ from the settings, and says how to fix that; undefined if there are none. */
export function oddAdvice(
  place: string,
  { replicas, maxBytes }: Settings,
  odd: readonly OddTeam[],
): string | undefined {
  if (odd.length === 0) return undefined;
  const wanted = `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}, ${maxBytes === undefined ? 'no bound' : `${maxBytes} bytes`}`;
  const names = nameTeams(odd.map(({ team }) => team));
  return `These teams do not have the settings of the journal (${wanted}): ${names}. To apply them: troupe journal init ${place}`;
}

/** The same for the teams on the servers; undefined also if it cannot be found out now. */
export async function adviseOnStreams(link: Link, settings: Settings): Promise<string | undefined> {
  const kept = await lookAtStreams({ ...link, patienceMs: 0 }, settings).catch(() => undefined);
  return kept && oddAdvice(link.place, settings, kept.odd);
}
