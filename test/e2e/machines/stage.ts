import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import { setUpNatsJournal } from '../../../src/journal/nats/setup.ts';
import type { Running } from '../../daemon/processes.ts';
import { connect, serve } from '../../daemon/serve.ts';
import { makeNetwork } from '../../nats/network.ts';
import { startProxy } from '../../nats/proxy.ts';
import type { Proxy } from '../../nats/proxy.ts';
import type { NatsServers } from '../../nats/server.ts';
import { until } from '../../until.ts';
import { processesOf, setStage } from '../stage.ts';
import type { Stage } from '../stage.ts';

/** A daemon as on a separate machine: with its own state directory, name and connection to the servers. */
export interface Machine extends Stage {
  readonly name: string;
  /** Cuts and mends its connection to the servers, if it was started with a `link`. */
  readonly link: Pick<Proxy, 'cut' | 'mend'> | undefined;
  readonly daemon: Running;
  readonly connection: Client;
}

/** How a machine is set up. */
export interface MachineOptions {
  readonly labels?: readonly string[];
  /** Makes the connection to the servers cuttable: a proxy closes connections, a network namespace drops packets. */
  readonly link?: 'proxy' | 'network';
  /** The command prefix that starts the daemon in its place, such as a network namespace. */
  readonly enter?: readonly string[];
  /** Its checkouts of projects. */
  readonly projects?: readonly string[];
  /** How it tells people outside of Troupe, as its settings say it. */
  readonly notify?: object;
  /** Uses a copy of another machine's id, as if its state directory was copied. */
  readonly copyOf?: Machine;
}

/** A lease that does not expire in a test, even if the machine is too busy to run the daemon. */
export const LONG_MS = 600_000;

let journals = 0;

/** A new journal on servers that several tests may share. */
export async function newJournal(
  { url }: NatsServers,
  { replicas = 1, leaseMs }: { replicas?: number; leaseMs: number },
): Promise<string> {
  const journal = `${url}?prefix=j${journals++}`;
  await setUpNatsJournal(journal, { replicas, leaseMs });
  return journal;
}

/** Starts a daemon that shares the journal. All processes of its machine end with the test. */
export async function startMachine(
  name: string,
  journal: string,
  { labels = [], link: kind, enter = [], projects = [], notify, copyOf }: MachineOptions = {},
): Promise<Machine> {
  const stage = setStage();
  const port = Number(/:(\d+)/.exec(journal.slice('nats://'.length))?.[1]);
  const network = kind === 'network' ? await makeNetwork(port) : undefined;
  const link = kind === 'proxy' ? await startProxy(port) : network;
  const address = link ? journal.replace(/\/\/[^?]*/, `//127.0.0.1:${link.port}`) : journal;
  const lines = [`name: ${name}`, `journal: ${address}`, `labels: ${JSON.stringify(labels)}`];
  if (notify) lines.push(`notify: ${JSON.stringify(notify)}`);
  if (projects.length > 0) lines.push(`projects: ${JSON.stringify(projects)}`);
  writeFileSync(join(stage.home.directory, 'config.yaml'), `${lines.join('\n')}\n`);
  if (copyOf) copyFileSync(join(copyOf.home.directory, 'id'), join(stage.home.directory, 'id'));
  const daemon = await serve(stage.home, { enter: network?.enter ?? enter });
  network?.entered(daemon.pid);
  // A paused daemon would not handle the request to end.
  onTestFinished(() => void daemon.child.kill('SIGCONT'));
  return { ...stage, name, link, daemon, connection: connect(stage.home) };
}

/** Signals all processes of a machine: the daemon first, so that it does not see the others end. */
export function signalAll({ daemon, home }: Machine, signal: NodeJS.Signals): void {
  for (const pid of [daemon.pid, ...processesOf(home).map((one) => one.pid)]) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself.
    }
  }
}

/** All events of a team, as one machine reads them. */
export async function eventsOf({ connection }: Machine, teamId: string): Promise<TeamEvent[]> {
  const events: TeamEvent[] = [];
  for (let after = 0; ;) {
    const batches = await connection.call('event.list', { teamId, after });
    const last = batches.at(-1);
    if (!last) return events;
    events.push(...batches.flatMap((batch) => batch.events as TeamEvent[]));
    after = last.seq;
  }
}

/** The ids of completed tasks; an id occurs once for each completion. */
export function completedIn(events: readonly TeamEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'task:completed' ? [event.taskId] : []));
}

/** No task was claimed twice under one epoch. */
export function expectOneHolder(events: readonly TeamEvent[]): void {
  const claims = events.flatMap((event) =>
    event.type === 'task:claimed' ? [`${event.taskId} at ${event.epoch}`] : [],
  );
  expect(new Set(claims).size).toBe(claims.length);
}

/** The hosts that a daemon lists as alive. */
export async function livingFor({ connection }: Machine): Promise<string[]> {
  const { hosts } = await connection.call('daemon.status', {});
  return hosts?.map(({ name }) => name) ?? [];
}

/** Waits until each machine knows all others. Before that, a new team would spread over the known ones only. */
export async function acquaint(...machines: readonly Machine[]): Promise<void> {
  const names = machines.map(({ name }) => name);
  for (const machine of machines) {
    await until(`${machine.name} knows ${names.join(', ')}`, async () => {
      const known = await livingFor(machine);
      return names.every((name) => known.includes(name));
    });
  }
}

/** The machines that members of a team run on now. */
export async function hostsOf({ connection }: Machine, teamId: string): Promise<string[]> {
  const { members } = await connection.call('team.show', { teamId });
  return members.flatMap(({ hostId, status }) => (hostId !== undefined && status !== 'stopped' ? [hostId] : []));
}

/** A cheap program that takes 0.2 s. */
export const SHELL = ['sh', '-c', 'cat > /dev/null; sleep 0.2; echo done'];
