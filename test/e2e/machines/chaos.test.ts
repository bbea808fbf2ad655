import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AgentSpec } from '../../../src/core/agent.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import { openAdmin } from '../../nats/admin.ts';
import { whyNoNetworks } from '../../nats/network.ts';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsNode } from '../../nats/server.ts';
import { rounds, tell } from '../../proof.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { watchTeam } from './report.ts';
import {
  acquaint,
  completedIn,
  eventsOf,
  expectOneHolder,
  hostsOf,
  livingFor,
  newJournal,
  SHELL,
  signalAll,
  startMachine,
} from './stage.ts';
import type { Machine } from './stage.ts';

const TEAM = 'many';
const MEMBERS = Array.from({ length: rounds(4, 12) }, (_, i) => `m${i}`);
const TASKS = rounds(12, 300);

/** Shorter than an election of a stream leader. So every lease expires meanwhile, which must do no harm. */
const LEASE_MS = 3_000;

describe('a team on several machines', NEEDS_NATS, () => {
  test('completes every task once although a machine is cut off and the servers are down past every lease', async () => {
    const servers = await startNats();
    onTestFinished(() => servers.stop());
    const journal = await newJournal(servers, { leaseMs: 2_000 });
    // In its own network namespace connections stay open when it is cut off, and packets are lost.
    const link = whyNoNetworks() === undefined ? 'network' : 'proxy';
    const [a, b, c] = await Promise.all([
      startMachine('alpha', journal),
      startMachine('beta', journal, { link }),
      startMachine('gamma', journal),
    ]);
    const machines = [a, b, c] as const;
    const members = MEMBERS.map((name) => ({ name, agent: { exec: SHELL } }));
    const tasks = chainedTasks();
    const source = JSON.stringify({ team: TEAM, members, tasks, limits: { maxTeammates: 32 } });
    await acquaint(a, b, c);
    await a.connection.call('team.up', { yes: true, source, folder: '/' });
    const { done, settled } = watchTeam(TEAM, [a, c, b]);
    await spreadTo('beta', a, settled, { kind: 'exec', command: SHELL });
    await done(TASKS * 0.1);
    b.link!.cut();
    await settled('beta has lost its members', () => isWithout(a, 'beta'));
    b.link!.mend();
    await done(TASKS * 0.5);
    const [server] = servers.nodes as [NatsNode];
    await server.kill();
    // After this every daemon knows that its own lease is over.
    for (const machine of machines) {
      await settled(`the lease of ${machine.name} is over`, async () => (await livingFor(machine)).length === 0);
    }
    await server.start();
    await done(TASKS);
    // All tasks may be done before the last daemon has reconnected.
    await acquaint(...machines);
    const events = await eventsOf(b, TEAM);
    expect(completedIn(events).sort()).toEqual(tasks.map((_, i) => String(i + 1)).sort());
    expectOneHolder(events);
    tell({ claims: claimsIn(events), faults: 2 });
  });

  test('completes every task once while machines die, pause or are cut off and the stream leader is killed', async () => {
    const cluster = await startNats({ size: 3 });
    onTestFinished(() => cluster.stop());
    const journal = await newJournal(cluster, { replicas: 3, leaseMs: LEASE_MS });
    const admin = await openAdmin(cluster);
    onTestFinished(() => admin.close());
    const [a, b, c] = await Promise.all([
      startMachine('alpha', journal, { link: 'proxy' }),
      startMachine('beta', journal),
      startMachine('gamma', journal),
    ]);
    const log = join(temporaryFolder(), 'turns');
    const members = MEMBERS.map((name) => ({ name, agent: { exec: LOGGING, messages: true }, env: { LOG: log } }));
    const tasks = chainedTasks();
    const source = JSON.stringify({ team: TEAM, members, tasks, limits: { maxTeammates: 32 } });
    await acquaint(a, b, c);
    await c.connection.call('team.up', { yes: true, source, folder: temporaryFolder() });
    const mail = keepSending(c);
    const { done, settled } = watchTeam(TEAM, [c, a], admin);
    await spreadTo('beta', c, settled, { kind: 'exec', command: LOGGING, messages: true, env: { LOG: log } });

    await done(TASKS * 0.1);
    // One machine dies with all its processes.
    signalAll(b, 'SIGKILL');
    await done(TASKS * 0.25);
    const stream = (await admin.jsm.streams.names().next()).find((name) => name.endsWith(`_${TEAM}`)) ?? '';
    const leader = await admin.leaderOf(stream);
    await leader.kill();
    await done(TASKS * 0.4);
    await leader.start();
    // One machine is cut off from the servers, and comes back.
    a.link!.cut();
    await watchTeam(TEAM, [c], admin).settled('alpha has lost its members', () => isWithout(c, 'alpha'));
    a.link!.mend();
    await acquaint(a, c);
    await done(TASKS * 0.6);
    await until('there was mail enough', () => mail.sent.length > 20);
    await mail.stop();
    // One machine is paused with its members for longer than its lease.
    signalAll(c, 'SIGSTOP');
    await watchTeam(TEAM, [a], admin).settled('gamma has lost its members', () => isWithout(a, 'gamma'));
    signalAll(c, 'SIGCONT');
    await done(TASKS);

    const events = await eventsOf(a, TEAM);
    expect(completedIn(events).sort()).toEqual(tasks.map((_, i) => String(i + 1)).sort());
    expectOneHolder(events);
    tell({ claims: claimsIn(events), faults: 4 });
    const lost = events.flatMap((event) => (event.type === 'teammate:stopped' ? (event.reason ?? '') : []));
    for (const { name } of [a, b, c]) expect(lost).toContain(`its machine ${name} is gone`);
    await watchTeam(TEAM, [c, a], admin).settled('all mail is with its agents', () => isRead(c));
    expectShownOnce(log, mail.sent);
    // Each member has one process, on the host that the journal names. The stage reports other processes at its end.
    await watchTeam(TEAM, [c, a], admin).settled('each member has one process', async () => {
      const { members: present } = await a.connection.call('team.show', { teamId: TEAM });
      const placed = present.flatMap(({ id, hostId }) => (id === 'lead' ? [] : [`${id} on ${hostId}`]));
      const running = [a, c].flatMap((one) => one.records().map(({ memberId }) => `${memberId} on ${one.name}`));
      return placed.sort().join() === running.sort().join();
    });
  });
});

/**
 * Waits until a machine has members. If it is slow just now, the others take all of the file. A new one is for the machine with the
 * fewest.
 */
async function spreadTo(
  host: string,
  from: Machine,
  settled: ReturnType<typeof watchTeam>['settled'],
  agent: AgentSpec,
): Promise<void> {
  for (let placed = MEMBERS.length; ; placed++) {
    await settled(`${placed} members are placed`, async () => (await hostsOf(from, TEAM)).length >= placed);
    if ((await hostsOf(from, TEAM)).includes(host)) return;
    await from.connection.call('member.spawn', { teamId: TEAM, name: `m${placed}`, agent, cwd: '/' });
  }
}

/** Tasks in chains, so that at most one per member is ready at a time. */
function chainedTasks() {
  return Array.from({ length: TASKS }, (_, i) => ({
    id: `t${i}`,
    title: `task ${i}`,
    needs: i < MEMBERS.length ? [] : [`t${i - MEMBERS.length}`, ...(i % 7 === 0 ? [`t${i - MEMBERS.length + 1}`] : [])],
  }));
}

/** A cheap program that logs its turn and takes 0.2 s. */
const LOGGING = ['sh', '-c', 'cat >> "$LOG"; sleep 0.2; echo done'];

interface Turn {
  readonly memberId: string;
  readonly messages: readonly { id: string; redeliveries: number }[];
}

/** Sends messages to the members in turn until `stop`; keeps the ids of those that the daemon accepted. */
function keepSending({ connection }: Machine): { sent: string[]; stop(): Promise<void> } {
  const sent: string[] = [];
  let stopped = false;
  const sending = (async () => {
    for (let i = 0; !stopped; i++) {
      const toId = MEMBERS[i % MEMBERS.length] as string;
      // A lost member gets no messages, and without a stream leader no call succeeds.
      const message = await connection
        .call('message.send', { teamId: TEAM, toId, content: `hello ${i}` })
        .catch(() => undefined);
      if (message) sent.push(message.id);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  })();
  return {
    sent,
    async stop() {
      stopped = true;
      await sending;
    },
  };
}

/** Every message that the daemon accepted was shown. Repetitions are marked as redeliveries. */
function expectShownOnce(log: string, sent: readonly string[]): void {
  // A teammate may have been killed while it wrote the turn to its program. Such a torn line showed nothing.
  const turns = readFileSync(log, 'utf8').trim().split('\n').filter(isWhole);
  const shown = turns.flatMap((line) => (JSON.parse(line) as Turn).messages);
  const ids = new Set(shown.map(({ id }) => id));
  expect(sent.filter((id) => !ids.has(id))).toEqual([]);
  const unmarked = shown.filter(({ redeliveries }) => redeliveries === 0).map(({ id }) => id);
  expect(unmarked.filter((id, i) => unmarked.indexOf(id) !== i)).toEqual([]);
}

function isWhole(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

async function isRead({ connection }: Machine): Promise<boolean> {
  for (const memberId of MEMBERS) {
    const waiting = await connection.call('message.inbox', { teamId: TEAM, memberId, waiting: true });
    if (waiting.length > 0) return false;
  }
  return true;
}

async function isWithout(from: Machine, host: string): Promise<boolean> {
  return !(await hostsOf(from, TEAM)).includes(host);
}

function claimsIn(events: readonly TeamEvent[]): number {
  return events.filter(({ type }) => type === 'task:claimed').length;
}
