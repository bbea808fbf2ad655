import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled, needs } from '../tools.ts';
import { HANG_MS, until } from '../until.ts';

/** One `nats-server` process. It can be killed, and started again with its data on disk. */
export interface NatsNode {
  readonly name: string;
  readonly port: number;
  /** The address of its HTTP monitoring. */
  readonly monitor: string;
  readonly pid: number;
  start(): Promise<void>;
  /** Ends it, with SIGKILL unless another signal is given, and waits for its end. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** One server or a cluster, on loopback. */
export interface NatsServers {
  /** The journal address for a daemon. */
  readonly url: string;
  readonly nodes: readonly NatsNode[];
  stop(): Promise<void>;
}

export interface NatsOptions {
  /** 1, or 3 for a cluster. */
  readonly size?: 1 | 3;
  /** More lines for the configuration of each server. JetStream lines in it replace the default. */
  readonly config?: string;
  readonly jetstream?: boolean;
}

/** Options for tests that are not about timing: a server that got no processor time for seconds is not away. */
export const PATIENT = { patienceMs: HANG_MS, awayMs: HANG_MS } as const;

/** Options of a suite or test that needs a server. */
export const NEEDS_NATS = needs(isInstalled('nats-server'), 'nats-server is not installed');

/** Starts servers in a new folder and waits until they are usable. */
export async function startNats({ size = 1, config = '', jetstream = true }: NatsOptions = {}): Promise<NatsServers> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-nats-')));
  const ports = await freePorts(size * 3);
  const routes = ports.slice(0, size).map((port) => `nats://127.0.0.1:${port}`);
  const nodes = routes.map((_, i): NatsNode => {
    const lines = [
      `server_name: n${i + 1}`,
      `listen: "127.0.0.1:${ports[size + i]}"`,
      `http: "127.0.0.1:${ports[size * 2 + i]}"`,
      'max_payload: 8MB',
      jetstream ? `jetstream { store_dir: ${JSON.stringify(join(folder, `n${i + 1}`))}, max_file_store: 4GB }` : '',
      size > 1 ? `cluster { name: test, listen: "127.0.0.1:${ports[i]}", routes: ${JSON.stringify(routes)} }` : '',
      config,
    ];
    const file = join(folder, `n${i + 1}.conf`);
    writeFileSync(file, lines.join('\n'));
    return makeNode(`n${i + 1}`, file, [ports[size + i] as number, ports[size * 2 + i] as number]);
  });
  const servers: NatsServers = {
    url: `nats://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
    if (size > 1) await until('the cluster has a leader', () => hasLeader(nodes));
    return servers;
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

/** Asks a node's monitoring; undefined if it does not answer. */
export async function ask<T>({ monitor }: Pick<NatsNode, 'monitor'>, path: string): Promise<T | undefined> {
  try {
    const response = await fetch(`${monitor}${path}`, { signal: AbortSignal.timeout(2_000) });
    return response.ok ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Finds `count` different free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function makeNode(name: string, config: string, [port, monitorPort]: readonly [number, number]): NatsNode {
  const log = config.replace(/conf$/, 'log');
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const node: NatsNode = {
    name,
    port,
    monitor: `http://127.0.0.1:${monitorPort}`,
    get pid() {
      return child?.pid ?? 0;
    },
    async start() {
      const started = spawn('nats-server', ['-c', config, '-l', log], { stdio: 'ignore' });
      child = started;
      ended = new Promise((resolve) => started.once('close', resolve).once('error', resolve));
      await until(`${name} is healthy`, () => {
        if (started.exitCode !== null) throw new Error(`nats-server ended: ${readFileSync(log, 'utf8')}`);
        return ask(node, '/varz').then((told) => told !== undefined && listens(port));
      });
    },
    async kill(signal = 'SIGKILL') {
      child?.kill(signal);
      // A paused process handles other signals only after SIGCONT.
      if (signal !== 'SIGKILL') child?.kill('SIGCONT');
      await ended;
    },
  };
  return node;
}

/** Whether clients can connect; monitoring starts earlier. */
function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });
}

/** Whether all servers of a cluster know each other and a leader. */
export async function hasLeader(nodes: readonly Pick<NatsNode, 'monitor'>[]): Promise<boolean> {
  const answers = await Promise.all(
    nodes.map((node) => ask<{ meta_cluster?: { leader?: string; cluster_size?: number } }>(node, '/jsz')),
  );
  return answers.every((answer) => answer?.meta_cluster?.leader && answer.meta_cluster.cluster_size === nodes.length);
}
