import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import { openWorkspace } from '../../bench/disk.ts';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { track } from '../daemon/processes.ts';
import { BIN, connect, environmentFor, readLog } from '../daemon/serve.ts';
import { isProof, rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startBare } from './soak/bare.ts';
import { prepareGround } from './soak/ground.ts';
import type { Ground } from './soak/ground.ts';
import { inspect } from './soak/inspect.ts';
import { loadOnce, loadUntil, openSteady } from './soak/load.ts';
import { measure, STAYS } from './soak/measure.ts';
import type { Measured, Sample } from './soak/measure.ts';
import { judgeSeries, SERIES } from './soak/series.ts';
import { processesOf } from './stage.ts';

/** Two hours. `TROUPE_SOAK_MINUTES` makes it shorter, and the result says so. */
const MINUTES = Number(process.env['TROUPE_SOAK_MINUTES'] ?? 120);
const EVERY_MS = 30_000;

/** From here on everything has to be flat: V8 has its optimized code, SQLite its pages, caches are full. */
const FROM_MINUTE = 10;

/** Until then the load is heavier. */
const WARM_MINUTES = 8;

test.runIf(isProof)(`memory, descriptors, files and latency of a daemon are flat for ${MINUTES} minutes`, async () => {
  const { ground, measured } = await openSoak(onDisk());
  await openSteady(ground);
  const began = performance.now();
  const minutes = (): number => (performance.now() - began) / 60_000;
  const isOver = (): boolean => minutes() >= MINUTES;
  const samples: Sample[] = [];
  const measuring = async (): Promise<void> => {
    for (let number = 1; !isOver(); number++) {
      samples.push(await measure(measured, number, minutes()));
      note({ ...samples.at(-1), ...Object.fromEntries(ground.counts) });
      await sleep(Math.max(0, number * EVERY_MS - (performance.now() - began)));
    }
  };
  await Promise.all([measuring(), loadUntil(ground, { isOver, isWarmingUp: () => minutes() < WARM_MINUTES })]);
  const judged = judgeSeries(samples, FROM_MINUTE);
  note({ judged, problems: ground.problems, counts: Object.fromEntries(ground.counts) });
  await ground.client.call('team.delete', { teamId: STAYS, force: true });
  await alone(ground.home, measured.pid);
  expect(ground.problems).toEqual([]);
  expect(judged.filter(({ flat }) => !flat)).toEqual([]);
  tell({
    soakMinutes: Math.floor(minutes()),
    soakSeries: SERIES.length,
    soakTeams: (ground.counts.get('teams') ?? 0) + (ground.counts.get('teams with workspaces') ?? 0),
    soakHeap: [...shareOf(judged, 'heapMb')],
    soakPrivate: [...shareOf(judged, 'privateMb')],
  });
});

test('after everything was done and closed, a daemon holds what it held before', async () => {
  const { ground, measured } = await openSoak(temporaryFolder());
  const rest = async (number: number): Promise<object> => {
    await alone(ground.home, measured.pid);
    const { descriptors, timers, handles, processes, files } = await measure(measured, number, 0);
    return { descriptors, timers, handles, processes, files };
  };
  // The first time, it opens and keeps what it opens once.
  await loadOnce(ground, 1);
  const before = await rest(1);
  await loadOnce(ground, 2);
  // Connections that were broken off are closed a moment later.
  let number = 1;
  await expect.poll(() => rest(++number)).toEqual(before);
});

/** A daemon as it is published, on a state directory of its own, with a client and its inspector. */
async function openSoak(folder: string): Promise<{ ground: Ground; measured: Measured }> {
  const home = homeAt(join(folder, 'home'));
  mkdirSync(home.directory, { mode: 0o700 });
  const daemon = track(
    spawn(process.execPath, ['--inspect=127.0.0.1:0', BIN, 'serve', '--json'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environmentFor(home),
    }),
  );
  onTestFailed(() => {
    const worse = readLog(home).filter(({ level }) => level !== 'info');
    console.error(worse.map((line) => JSON.stringify(line)).join('\n'));
  });
  onTestFinished(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });
  const line = await until('the daemon is ready', () => {
    if (daemon.child.exitCode !== null) throw new Error(`The daemon ended: ${daemon.output.stderr}`);
    return /^.*\n/.exec(daemon.output.stdout)?.[0];
  });
  const { url } = JSON.parse(line) as { url: string };
  const client = connect(home, { patience: 600_000 });
  const inspector = await inspect(daemon.output.stderr);
  onTestFinished(() => inspector.close());
  const ground = prepareGround(folder, { home, url, client, random: seededRandom() });
  const members = (): number[] =>
    openProcessRecords(home.processes)
      .list()
      .flatMap(({ teamId, memberId, identity }) => (teamId === STAYS && memberId && identity ? [identity.pid] : []));
  return {
    ground,
    measured: {
      home,
      pid: daemon.pid,
      client,
      inspector,
      bare: await startBare(folder),
      members,
      calls: rounds(5, 100),
    },
  };
}

/** Waits until the daemon is the only process of its state directory. */
async function alone(home: Home, pid: number): Promise<void> {
  await until('only the daemon is left', () => processesOf(home).every((one) => one.pid === pid));
}

/** A folder on a real disk, where a flush costs something. */
function onDisk(): string {
  const workspace = openWorkspace();
  onTestFinished(() => workspace[Symbol.dispose]());
  return workspace.folder;
}

/** Keeps a line of JSON beside the results while it runs, so that a run that takes hours can be watched. */
function note(line: unknown): void {
  appendFileSync(join(dirname(dirname(import.meta.dirname)), 'proof', 'soak.jsonl'), `${JSON.stringify(line)}\n`);
}

function shareOf(judged: ReturnType<typeof judgeSeries>, name: keyof Sample): number[] {
  return judged.filter((one) => one.name === name).map(({ perDay }) => perDay);
}
