import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { track } from '../daemon/processes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { freePorts } from './server.ts';

const LET_LEAD = join(import.meta.dirname, 'programs/let-lead.ts');
const AWAIT_LEADER = join(import.meta.dirname, 'programs/await-leader.ts');

/** A network namespace. Programs in it reach each other even when the line to the other place is cut. */
export interface Place {
  /** The address of its servers, for a daemon in this place. */
  readonly url: string;
  /** The command prefix that starts a program in this place. */
  readonly enter: readonly [string, ...string[]];
}

/** A cluster of three servers in two places, with one line between them. */
export interface Places {
  /** The place of two servers: the majority. */
  readonly most: Place;
  /** The place of the third server: the minority. */
  readonly few: Place;
  /** Makes the server of the minority the leader of a stream. */
  leadWithFew(stream: string): Promise<void>;
  /** Takes the line down: packets are lost, not refused. */
  cut(): void;
  mend(): void;
}

/** Makes two networks with a line between them. They exist as long as a process is in them. */
const NETWORKS = `
  set -e
  ip link set lo up
  exec 3<&0
  unshare -n sh -c 'ip link set lo up; exec cat' <&3 &
  until [ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
  ip link add line type veth peer name line netns $!
  ip addr add 10.9.0.1/24 dev line
  ip link set line up
  nsenter -t $! -n sh -c 'ip addr add 10.9.0.2/24 dev line; ip link set line up'
  echo $$ $!
  exec cat`;

/** Starts the cluster and waits until it has a leader. Everything ends with the test. */
export async function startPlaces(): Promise<Places> {
  const folder = temporaryFolder();
  const holder = track(spawn('unshare', ['-rn', 'sh', '-c', NETWORKS], { stdio: ['pipe', 'pipe', 'pipe'] }));
  const pids = await until('the networks are there', () => {
    if (holder.child.exitCode !== null) throw new Error(`No networks: ${holder.output.stderr}`);
    return /^(\d+) (\d+)\n/.exec(holder.output.stdout)?.slice(1).map(Number);
  });
  // The inner process reads the same input, and ends with it.
  onTestFinished(() => void holder.child.stdin?.end());
  const enter = (pid = 0) => ['nsenter', '-t', String(pid), '-U', '-n', '--preserve-credentials'] as const;
  const [most, few] = [enter(pids[0]), enter(pids[1])];
  const ports = await freePorts(9);
  const nodes = [most, most, few].map((from, i) => {
    const address = from === few ? '10.9.0.2' : '10.9.0.1';
    const [route, monitor] = [`${address}:${ports[i]}`, `${address}:${ports[6 + i]}`];
    return { name: `n${i + 1}`, from, route, port: ports[3 + i], monitor };
  });
  const routes = nodes.map(({ route }) => `nats://${route}`);
  for (const { name, from, route, port, monitor } of nodes) {
    const lines = [
      `server_name: ${name}`,
      `listen: "127.0.0.1:${port}"`,
      `http: "${monitor}"`,
      'max_payload: 8MB',
      // So the servers notice a silent line, and reconnect over it.
      'ping_interval: "1s"',
      `jetstream { store_dir: ${JSON.stringify(join(folder, name))}, max_file_store: 1GB }`,
      `cluster { name: test, listen: "${route}", no_advertise: true, routes: ${JSON.stringify(routes)} }`,
    ];
    writeFileSync(join(folder, `${name}.conf`), lines.join('\n'));
    const [program, ...args] = [...from, 'nats-server', '-c', join(folder, `${name}.conf`)] as const;
    track(spawn(program, [...args, '-l', join(folder, `${name}.log`)], { stdio: 'ignore' }));
  }
  const run = async (program: string, ...words: readonly string[]): Promise<void> => {
    const [nsenter, ...args] = [...most, process.execPath, program, ...words] as const;
    const running = track(spawn(nsenter, args));
    if ((await running.ended) === 0) return;
    const logs = nodes.map(({ name }) => read(join(folder, `${name}.log`)));
    throw new Error([running.output.stderr, ...logs].join('\n---\n'));
  };
  // Their logs do not tell: a server that joins after the election does not log the leader.
  await run(AWAIT_LEADER, ...nodes.map(({ monitor }) => `http://${monitor}`));
  const setLine = (to: 'up' | 'down'): void => {
    const [program, ...args] = [...most, 'ip', 'link', 'set', 'line', to] as const;
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`The line could not be set ${to}: ${stderr}`);
  };
  const place = (from: Place['enter']): Place => {
    const there = nodes.filter((node) => node.from === from);
    return { enter: from, url: `nats://${there.map(({ port }) => `127.0.0.1:${port}`).join(',')}` };
  };
  const there = place(most);
  return {
    most: there,
    few: place(few),
    leadWithFew: (stream) => run(LET_LEAD, there.url, stream, 'n3'),
    cut: () => setLine('down'),
    mend: () => setLine('up'),
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
