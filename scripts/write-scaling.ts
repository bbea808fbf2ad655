// Writes the figures of docs/scaling.md from bench/results.json. Run it after the benchmark jetstream. A test fails if
// they are stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const HOUSE = dirname(import.meta.dirname);
const PAGE = join(HOUSE, 'docs', 'scaling.md');

type Rows = Readonly<Record<'one' | 'eight' | 'teams8' | 'teams64' | 'daemons', number>>;

interface Servers {
  readonly limit: number;
  readonly persec: Rows;
  readonly ratios: Rows;
  readonly p50: Rows;
  readonly p99: Rows;
  readonly writableAfter: number;
  /** How often it was measured; missing in older results. */
  readonly rounds?: number;
}

interface Figures {
  readonly targets: readonly { readonly what: string; readonly atLeast?: number; readonly ok: boolean }[];
  readonly oneServer: Servers;
  readonly threeServers: Servers;
  readonly teams: {
    readonly count: number;
    readonly msToMake: { readonly first: number; readonly last: number };
    readonly msToList: { readonly first: number; readonly again: number };
    readonly serverBytesPerTeam: number;
  };
}

const ROWS = [
  ['one', '1 team, 1 in flight'],
  ['eight', '1 team, 8 in flight'],
  ['teams8', '8 teams, 8 in flight each'],
  ['teams64', '64 teams, 2 in flight each'],
  ['daemons', '1 team, 16 in flight from two daemons'],
] as const;

/** The page with the figures of the last run. */
export function renderScaling(): string {
  const file = JSON.parse(readFileSync(join(HOUSE, 'bench', 'results.json'), 'utf8')) as {
    results: (Figures & { name: string })[];
  };
  const figures = file.results.find(({ name }) => name === 'jetstream');
  if (!figures) throw new Error('bench/results.json has no jetstream: npm run bench -- jetstream');
  const page = readFileSync(PAGE, 'utf8');
  return put(put(page, 'measured', measured(figures)), 'limits', limits(figures));
}

function put(page: string, name: string, text: string): string {
  const place = new RegExp(`(<!-- ${name}: .*? -->\\n)[^]*?(<!-- /${name} -->)`);
  if (!place.test(page)) throw new Error(`docs/scaling.md has no place for ${name}`);
  return page.replace(place, (_all, from: string, to: string) => `${from}\n${text}\n\n${to}`);
}

function measured({ oneServer, threeServers, teams, targets }: Figures): string {
  const [one, three] = [oneServer, threeServers];
  const cell = ({ ratios, persec, p50, p99 }: Servers, row: keyof Rows) =>
    `${short(ratios[row])} (${whole(persec[row])}; ${short(p50[row])}, ${short(p99[row])})`;
  const rounds = ({ rounds }: Servers) => (rounds === undefined ? '' : `, ${rounds} rounds`);
  const met = targets.filter(({ atLeast }) => atLeast !== undefined).every(({ ok }) => ok);
  return [
    `| claim + complete: ratio (operations per second; p50, p99 in ms) | one server${rounds(one)} | three servers${rounds(three)} |`,
    '|---|---|---|',
    `| bare appends per second | ${whole(one.limit)} | ${whole(three.limit)} |`,
    ...ROWS.map(([row, title]) => `| ${title} | ${cell(one, row)} | ${cell(three, row)} |`),
    '',
    `No task was lost or claimed twice. The target of 3 with 8 in flight is ${met ? 'met on both' : 'not met'}.`,
    '',
    '| more figures | |',
    '|---|---|',
    `| from killing the stream's leader to the next claim | ${short(three.writableAfter)} s |`,
    `| create one of the first, one of the last of ${whole(teams.count)} teams on one server | ${short(teams.msToMake.first)} ms, ${short(teams.msToMake.last)} ms |`,
    `| list them the first time, again | ${short(teams.msToList.first)} ms, ${short(teams.msToList.again)} ms |`,
    `| server memory per team | ${whole(teams.serverBytesPerTeam / 1024)} KB |`,
  ].join('\n');
}

function limits({ oneServer: one, threeServers: three, teams }: Figures): string {
  const tasks = (servers: Servers, row: keyof Rows) => whole(servers.persec[row] / 2);
  const share = (servers: Servers) => `${Math.round((100 * servers.persec.daemons) / servers.persec.eight)} %`;
  return [
    '1. **One team** is one stream with one leader and one append at a time. A batch carries everything that waits, so more members make',
    '   larger batches, not more appends.',
    '',
    '   | operations per second | one server | three servers |',
    '   |---|---|---|',
    `   | 1 in flight | ${whole(one.persec.one)} | ${whole(three.persec.one)} |`,
    `   | 8 in flight | ${whole(one.persec.eight)} | ${whole(three.persec.eight)} |`,
    `   | the same, in tasks claimed and completed | ${tasks(one, 'eight')} | ${tasks(three, 'eight')} |`,
    `   | share that is left if two daemons write all the time | ${share(one)} | ${share(three)} |`,
    '',
    '   Agents take minutes for a task. If you come near these limits, split the work into several teams.',
    '2. **One server** carries all streams that it leads. Smaller batches cost more.',
    '',
    '   | operations per second | one server | three replicas on one machine |',
    '   |---|---|---|',
    `   | 8 teams | ${whole(one.persec.teams8)} | ${whole(three.persec.teams8)} |`,
    `   | 64 teams, fewer in flight in each | ${whole(one.persec.teams64)} | ${whole(three.persec.teams64)} (p99 ${whole(three.p99.teams64)} ms) |`,
    '',
    '   A cluster spreads leaders over its servers. So the first step is more servers in the same cluster, each stream on three of them.',
    `3. **One cluster** is limited by the number of its streams. ${whole(teams.count)} teams took ${whole((teams.count * teams.serverBytesPerTeam) / 1024 / 1024)} MB of one server's memory. Replicated`,
    '   streams cost more, because each has its own elections and heartbeats. How much was not measured. Close and delete finished teams;',
    '   `troupe journal copy` keeps them in a file.',
  ].join('\n');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Two significant digits, and at most one decimal from 10 on. */
function short(value: number): string {
  return value >= 100 ? whole(value) : String(Number(value.toPrecision(value >= 10 ? 3 : 2)));
}

if (import.meta.main) writeFileSync(PAGE, renderScaling());
