import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../src/client/client.ts';
import { homeAt } from '../src/client/home.ts';
import type { Home } from '../src/client/home.ts';
import { socketConnect } from '../src/client/socket.ts';
import type { EventsFrame } from '../src/operations/frames.ts';
import type { Scale } from './benchmark.ts';
import { startCrew } from './crew.ts';
import { keepInFlight } from './rounds.ts';
import { createTask, WORKERS } from './team.ts';

/** How clients reach the daemon. */
export type Transport = 'unix' | 'ws';

/** A daemon in its own process, with a client that prepares and checks. */
export interface BenchDaemon extends AsyncDisposable {
  readonly home: Home;
  readonly pid: number;
  readonly url: string;
  readonly client: Client;
}

/** Starts `troupe serve`, built as it is published, on a state directory in the folder. */
export async function startDaemon(folder: string): Promise<BenchDaemon> {
  const home = homeAt(join(folder, 'home'));
  const troupe = join(import.meta.dirname, '..', 'bin', 'troupe.js');
  const child = spawn(process.execPath, [troupe, 'serve'], {
    env: { ...process.env, TROUPE_HOME: home.directory, TROUPE_SOURCE: '' },
    stdio: 'ignore',
  });
  const client = new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }), {
    patience: 60_000,
  });
  const { pid, url } = await client.call('daemon.status', {});
  return {
    home,
    pid,
    url: url ?? '',
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** Makes a team with 8 workers and `tasks` ready tasks, through the daemon. */
export async function makeDaemonTeam({ client }: BenchDaemon, teamId: string, tasks: number): Promise<void> {
  await client.call('team.create', { name: teamId, maxTeammates: 32, messagesPerMinute: 1_000_000 });
  for (const name of WORKERS) await client.call('member.add', { teamId, name });
  await keepInFlight(64, tasks, (i) => {
    const { title, description } = createTask(i + 1);
    return client.call('task.create', { teamId, title, description });
  });
}

/** Eight client processes that claim. They are warmed up, and stay for all rounds. */
export interface Claimers extends AsyncDisposable {
  /** Lets them race for all tasks of a team; returns the ids that they got and the milliseconds that it took. */
  claim(teamId: string, inFlight: number): Promise<{ ids: string[]; ms: number }>;
}

/** Warm-up claims per client, 16 in flight: V8 optimizes code that has run some thousand times. */
const WARM_UP = 10_000;

/** Starts a process per worker on one transport. Lets them claim until they and the daemon are warm. */
export async function startClaimers(daemon: BenchDaemon, transport: Transport, scale: Scale): Promise<Claimers> {
  const token = readFileSync(daemon.home.tokenFile, 'utf8').trim();
  const place = transport === 'unix' ? daemon.home.socket : `${daemon.url.replace('http', 'ws')}/ws`;
  const crew = await startCrew('claim-client.ts', (worker) => [transport, place, worker], { TOKEN: token });
  const tasks = 8_000;
  for (let left = scale.size(WARM_UP * WORKERS.length); left > 0; left -= tasks) {
    const teamId = `warm-up-${transport}-${left}`;
    await makeDaemonTeam(daemon, teamId, Math.min(left, tasks));
    await crew.ask({ teamId, inFlight: 16 });
  }
  return {
    async claim(teamId, inFlight) {
      const start = performance.now();
      const ids = (await crew.ask({ teamId, inFlight })).flat() as string[];
      return { ids, ms: performance.now() - start };
    },
    [Symbol.asyncDispose]: () => crew[Symbol.asyncDispose](),
  };
}

/** All events of a team as the daemon has them on disk. */
export async function readDaemonTeam(
  { client }: BenchDaemon,
  teamId: string,
): Promise<EventsFrame['events'][number][]> {
  const events: EventsFrame['events'][number][] = [];
  for (let after = 0; ;) {
    const batches = await client.call('event.list', { teamId, after, limit: 10_000 });
    for (const batch of batches) events.push(...(batch.events as unknown as EventsFrame['events']));
    const last = batches.at(-1)?.seq;
    if (last === undefined) return events;
    after = last;
  }
}

/** Private memory of a process in bytes: what would be free without it. Undefined where the system is not Linux. */
export async function privateBytes(pid: number): Promise<number | undefined> {
  // Waits for the garbage collection.
  await pause(500);
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const kilobytes = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].map(([, size]) => Number(size));
    return kilobytes.reduce((sum, size) => sum + size, 0) * 1024;
  } catch {
    return undefined;
  }
}
