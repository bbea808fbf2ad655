import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { quantile } from '../../../bench/rounds.ts';
import type { Client } from '../../../src/client/client.ts';
import type { Home } from '../../../src/client/home.ts';
import { processesOf } from '../stage.ts';
import type { Bare } from './bare.ts';
import type { Inspector } from './inspect.ts';

const MB = 1024 * 1024;

/** The team that stays. Its members' processes are the oldest, and clients come to it. */
export const STAYS = 'steady';

/** What is measured every half minute. Memory is that after a garbage collection. */
export interface Sample {
  /** Minutes since the first. */
  readonly at: number;
  /** What the daemon holds in V8's heap and beside it, and the code that V8 made. */
  readonly heapMb: number;
  readonly codeMb: number;
  readonly rssMb: number;
  /** What would be free without the daemon. */
  readonly privateMb: number;
  /** The same of the processes of members that stay, on average. Nothing collects garbage there for this. */
  readonly memberMb: number;
  readonly descriptors: number;
  readonly timers: number;
  /** Everything else that its event loop waits for: sockets, pipes, children. */
  readonly handles: number;
  readonly processes: number;
  /** Under the state directory, without the journal, the log, the depots and what a team that stays has done: these grow by right. */
  readonly files: number;
  readonly fileKb: number;
  readonly depotFiles: number;
  readonly journalKb: number;
  readonly logKb: number;
  readonly transcriptKb: number;
  /** Times a call of the bare server in the same seconds: of 100 claims and messages, the 50th and the 99th. */
  readonly claim50: number;
  readonly claim99: number;
  readonly message50: number;
  readonly message99: number;
  /** Milliseconds of that call, to see how busy the machine is. */
  readonly bare50: number;
}

export interface Measured {
  readonly home: Home;
  readonly pid: number;
  readonly client: Client;
  readonly inspector: Inspector;
  readonly bare: Bare;
  /** The processes of members that stay. */
  readonly members: () => readonly number[];
  /** How many claims and messages. */
  readonly calls: number;
}

/** Measures once. `number` names the team on which the calls are made. */
export async function measure(of: Measured, number: number, at: number): Promise<Sample> {
  const latency = await timeCalls(of, `probe-${number}`);
  const { data, code, resources } = await of.inspector.look();
  const { Timeout: timers = 0, ...others } = resources;
  const members = of.members().map(privateKb);
  return {
    at: round(at),
    heapMb: round(data / MB),
    codeMb: round(code / MB),
    rssMb: round(kbOf(`/proc/${of.pid}/status`, /^VmRSS:\s+(\d+) kB$/gm) / 1024),
    privateMb: round(privateKb(of.pid) / 1024),
    memberMb: round(members.reduce((sum, kb) => sum + kb, 0) / Math.max(1, members.length) / 1024),
    descriptors: readdirSync(`/proc/${of.pid}/fd`).length,
    timers,
    // A request is over soon, and there is one more or less at any moment.
    handles: Object.entries(others).reduce((sum, [kind, count]) => sum + (kind.includes('Req') ? 0 : count), 0),
    processes: processesOf(of.home).length,
    ...measureFiles(of.home.directory),
    ...latency,
  };
}

/** Claims a task and sends a message, again and again, each beside a call of the bare server. The team goes away. */
async function timeCalls({ client, bare, calls }: Measured, teamId: string) {
  await client.call('team.create', { name: teamId, messagesPerMinute: 1_000_000 });
  for (const name of ['ann', 'bob']) await client.call('member.add', { teamId, name });
  for (let i = 1; i <= calls; i++) await client.call('task.create', { teamId, title: `Task ${i}` });
  const times = { claim: [] as number[], message: [] as number[], bare: [] as number[] };
  const time = async (list: number[], work: () => unknown): Promise<void> => {
    const from = performance.now();
    await work();
    list.push(performance.now() - from);
  };
  for (let i = 0; i < calls; i++) {
    await time(times.bare, () => bare.ask());
    await time(times.claim, () => client.call('task.claim', { teamId }, { as: 'ann' }));
    await time(times.message, () =>
      client.call('message.send', { teamId, toId: 'bob', content: `Note ${i}` }, { as: 'ann' }),
    );
  }
  await client.call('team.delete', { teamId, force: true });
  const [bare50, bare99] = [quantile(times.bare, 0.5), quantile(times.bare, 0.99)];
  return {
    claim50: round(quantile(times.claim, 0.5) / bare50),
    claim99: round(quantile(times.claim, 0.99) / bare99),
    message50: round(quantile(times.message, 0.5) / bare50),
    message99: round(quantile(times.message, 0.99) / bare99),
    bare50: round(bare50),
  };
}

function measureFiles(directory: string) {
  const found = { files: 0, fileKb: 0, depotFiles: 0, journalKb: 0, logKb: 0, transcriptKb: 0 };
  for (const path of filesUnder(directory)) {
    const kb = sizeOf(path) / 1024;
    const own = path.slice(directory.length + 1);
    if (own.startsWith('journal.db')) found.journalKb += kb;
    else if (own.startsWith('daemon.log')) found.logKb += kb;
    else if (own.startsWith('depots/')) found.depotFiles++;
    else if (own.startsWith(`transcripts/${STAYS}/`)) found.transcriptKb += kb;
    else {
      found.files++;
      found.fileKb += kb;
    }
  }
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, round(value)])) as typeof found;
}

/** All files below a folder. Folders that are removed meanwhile have none. */
function filesUnder(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesUnder(path);
      return entry.isFile() ? [path] : [];
    });
  } catch {
    return [];
  }
}

/** Nothing, if the file was removed meanwhile. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function privateKb(pid: number): number {
  return kbOf(`/proc/${pid}/smaps_rollup`, /^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm);
}

/** The sum of what a pattern finds in a file of `/proc`; 0 if the process is gone. */
function kbOf(path: string, pattern: RegExp): number {
  try {
    return [...readFileSync(path, 'utf8').matchAll(pattern)].reduce((sum, [, kb]) => sum + Number(kb), 0);
  } catch {
    return 0;
  }
}

function round(value: number): number {
  return Number(value.toPrecision(5));
}
