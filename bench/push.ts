import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, openSync, readFileSync, watch, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { Client } from '../src/client/client.ts';
import { nodeWebSocketConnect } from '../src/client/node-websocket.ts';
import { round } from './benchmark.ts';
import type { Benchmark } from './benchmark.ts';
import { startDaemon } from './daemon.ts';
import type { BenchDaemon } from './daemon.ts';
import { openWorkspace } from './disk.ts';
import { processorTime } from './processor.ts';
import { median, quantile } from './rounds.ts';

/** The number of warm-up messages. */
const WARM_UP = 3_000;

/** A message from one client to the handler of another, durable on the way, over WebSocket. */
export const push: Benchmark = {
  name: 'push',
  unit: 'ms',
  about: "a message from A until B's handler runs, durable, over WebSocket",
  target: 'p50 at most 2 times a WebSocket round trip and one fdatasync; none missed',
  async run(scale) {
    using workspace = openWorkspace();
    const { folder, disk } = workspace;
    await using daemon = await startDaemon(folder);
    const echo = fork(join(import.meta.dirname, 'processes', 'echo-server.ts'), { execArgv: [] });
    const [port] = (await once(echo, 'message')) as [number];
    try {
      const ours: Push[] = [];
      const limits: number[] = [];
      const watches: number[] = [];
      const ratios: number[] = [];
      const count = scale.size(400);
      // V8 compiles the code of a message during the first few thousand, which are not measured.
      const early = (await pushes(daemon, 'warm-up', scale.size(WARM_UP))).slice(0, count);
      for (let number = 0; number <= scale.rounds; number++) {
        const trip = await roundTrips(port, count);
        const flush = flushes(folder, count);
        const pushed = await pushes(daemon, `push-${number}`, count);
        const watched = await watchDelays(folder, Math.ceil(count / 4));
        if (number === 0) continue;
        ours.push(...pushed);
        watches.push(...watched);
        limits.push(median(trip) + median(flush));
        ratios.push(median(pushed.map(({ ms }) => ms)) / (median(trip) + median(flush)));
      }
      const times = ours.map(({ ms }) => ms);
      const p99 = quantile(times, 0.99);
      return {
        value: median(times),
        limit: 'a WebSocket round trip and one fdatasync',
        limitValue: median(limits),
        ratio: median(ratios),
        peers: [
          { name: 'fs.watch, from write to callback', value: median(watches), ratio: median(times) / median(watches) },
        ],
        targets: [{ what: 'p50, times the limit', value: median(ratios), atMost: 2 }],
        more: {
          p50: median(times),
          p50OfTheFirst: round(median(early.map(({ ms }) => ms))),
          p99,
          fsWatchP99: quantile(watches, 0.99),
          // Where the time goes, of all messages and of the slowest. The rest, after running and waiting for a core, is
          // the flush and the wakeups of two processes.
          all: whereTimeWent(ours),
          slowestHundredth: whereTimeWent(ours.filter(({ ms }) => ms >= p99)),
          disk,
        },
      };
    } finally {
      echo.disconnect();
    }
  },
};

/** One message, in milliseconds: the total time, and the parts of the daemon and the two clients. */
interface Push {
  readonly ms: number;
  readonly daemonRan: number;
  readonly daemonWaitedForCore: number;
  readonly clientsRan: number;
  readonly clientsWaitedForCore: number;
}

function whereTimeWent(pushes: readonly Push[]): Push {
  const mean = (key: keyof Push): number => round(pushes.reduce((sum, one) => sum + one[key], 0) / pushes.length);
  return {
    ms: mean('ms'),
    daemonRan: mean('daemonRan'),
    daemonWaitedForCore: mean('daemonWaitedForCore'),
    clientsRan: mean('clientsRan'),
    clientsWaitedForCore: mean('clientsWaitedForCore'),
  };
}

/**
 * Sends one message after the other; returns how long each took to the other client. Throws if one is lost or repeated.
 */
async function pushes({ client, url, home, pid }: BenchDaemon, teamId: string, count: number): Promise<Push[]> {
  await client.call('team.create', { name: teamId, messagesPerMinute: 1_000_000 });
  await client.call('member.add', { teamId, name: 'a' });
  await client.call('member.add', { teamId, name: 'b' });
  const { seq } = await client.call('team.status', { teamId });
  const token = readFileSync(home.tokenFile, 'utf8').trim();
  const connect = nodeWebSocketConnect({ url: `${url.replace('http', 'ws')}/ws`, token });
  const sender = new Client(connect);
  const receiver = new Client(connect);
  const stop = new AbortController();
  const delays: Push[] = [];
  let arrived: (content: string) => void = () => {};
  const listening = (async () => {
    for await (const { events } of receiver.subscribe(teamId, { after: seq, signal: stop.signal })) {
      for (const event of events) if (event.type === 'message:sent') arrived(event.content);
    }
  })();
  try {
    await sender.call('team.show', { teamId });
    for (let i = 0; i < count; i++) {
      const seen = new Promise<string>((resolve) => (arrived = resolve));
      const [daemon, clients] = [processorTime(pid), processorTime(process.pid)];
      const start = performance.now();
      const sent = sender.call('message.send', { teamId, toId: 'b', content: String(i) }, { as: 'a' });
      const content = await seen;
      const ms = performance.now() - start;
      const [daemonAfter, clientsAfter] = [processorTime(pid), processorTime(process.pid)];
      delays.push({
        ms,
        daemonRan: daemonAfter.ran - daemon.ran,
        daemonWaitedForCore: daemonAfter.waited - daemon.waited,
        clientsRan: clientsAfter.ran - clients.ran,
        clientsWaitedForCore: clientsAfter.waited - clients.waited,
      });
      if (content !== String(i)) throw new Error(`Message ${content} came in place of ${i}`);
      await sent;
    }
  } finally {
    stop.abort();
    sender.close();
    receiver.close();
    await listening.catch(() => {});
  }
  return delays;
}

/** Uses the library of our own clients, with nothing around it. */
async function roundTrips(port: number, count: number): Promise<number[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await once(socket, 'open');
  const text = JSON.stringify({ type: 'message.send', id: 1, payload: { content: 'x'.repeat(100) } });
  const trips: number[] = [];
  let arrived = (): void => {};
  socket.on('message', () => arrived());
  for (let i = 0; i < count; i++) {
    const back = new Promise<void>((resolve) => (arrived = resolve));
    const start = performance.now();
    socket.send(text);
    await back;
    trips.push(performance.now() - start);
  }
  socket.close();
  return trips;
}

function flushes(folder: string, count: number): number[] {
  const file = openSync(join(folder, 'flush.log'), 'a', 0o600);
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    writeSync(file, 'x'.repeat(300));
    fdatasyncSync(file);
    times.push(performance.now() - start);
  }
  closeSync(file);
  return times;
}

/** The time from writing a file to a watcher's callback, as in teams that keep their mail in files. */
async function watchDelays(folder: string, count: number): Promise<number[]> {
  const path = join(folder, 'watched');
  writeFileSync(path, '');
  const delays: number[] = [];
  let changed = (): void => {};
  const watcher = watch(path, () => changed());
  try {
    for (let i = 0; i < count; i++) {
      const seen = new Promise<void>((resolve) => (changed = resolve));
      const start = performance.now();
      writeFileSync(path, String(i));
      await seen;
      delays.push(performance.now() - start);
      // A write is reported twice, as a change of length and of content.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  } finally {
    watcher.close();
  }
  return delays;
}
