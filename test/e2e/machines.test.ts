import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { until } from '../daemon/processes.ts';
import type { Running } from '../daemon/processes.ts';
import { connect, serve } from '../daemon/serve.ts';
import { openAdmin } from '../nats/admin.ts';
import { startProxy } from '../nats/proxy.ts';
import type { Proxy } from '../nats/proxy.ts';
import { hasNats, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { processesOf, setStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** Longer than servers take to elect a leader: while there is none, nobody can renew a lease. */
const LEASE_MS = 9_000;

/** A daemon as it would be on a machine of its own: a state directory, a name, a way to the servers. */
interface Machine extends Stage {
  readonly name: string;
  readonly proxy: Proxy | undefined;
  daemon: Running;
  readonly connection: Client;
}

describe.skipIf(!hasNats)('a team on several machines', { timeout: 180_000 }, () => {
  let servers: NatsServers;
  let journals = 0;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  async function newJournal(on: NatsServers = servers, replicas = 1): Promise<string> {
    const url = `${on.url}?prefix=j${journals++}`;
    await setUpNatsJournal(url, { replicas, leaseMs: LEASE_MS });
    return url;
  }

  async function startMachine(
    name: string,
    journal: string,
    { labels = [] as string[], proxied = false } = {},
  ): Promise<Machine> {
    const stage = setStage();
    const port = Number(/:(\d+)/.exec(journal.slice(7))?.[1]);
    const proxy = proxied ? await startProxy(port) : undefined;
    const address = proxy ? journal.replace(/\/\/[^?]*/, `//127.0.0.1:${proxy.port}`) : journal;
    const lines = [`name: ${name}`, `journal: ${address}`, `labels: ${JSON.stringify(labels)}`];
    writeFileSync(join(stage.home.directory, 'config.yaml'), `${lines.join('\n')}\n`);
    const daemon = await serve(stage.home);
    // One that is stopped would not hear that it should end.
    onTestFinished(() => void daemon.child.kill('SIGCONT'));
    return { ...stage, name, proxy, daemon, connection: connect(stage.home) };
  }

  test('runs each member where it belongs, spreads the others, and shows all of it everywhere', async () => {
    const journal = await newJournal();
    const a = await startMachine('alpha', journal);
    const b = await startMachine('beta', journal, { labels: ['gpu'] });
    const member = (name: string, more: object = {}) => ({ name, agent: { exec: SHELL }, ...more });
    const file = {
      team: 'spread',
      members: [
        member('m1'),
        member('m2'),
        member('m3', { labels: ['gpu'] }),
        member('m4', { host: 'alpha' }),
        member('m5', { host: 'gamma' }),
      ],
      tasks: [{ title: 'for m3', assign: 'm3' }],
    };
    await a.connection.call('team.up', { source: JSON.stringify(file), folder: a.folder });
    const places = async (from: Machine) => {
      const { members } = await from.connection.call('team.show', { teamId: 'spread' });
      return Object.fromEntries(
        members.flatMap(({ id, hostId, status }) => (hostId && status !== 'spawning' ? [[id, hostId]] : [])),
      );
    };
    await until('all but one run', async () => Object.keys(await places(b)).length === 4, 40_000);
    const placed = await places(a);
    expect(placed).toMatchObject({ m3: 'beta', m4: 'alpha' });
    expect(Object.values(placed).sort()).toEqual(['alpha', 'alpha', 'beta', 'beta']);
    const { hosts } = await a.connection.call('daemon.status', {});
    expect(hosts).toMatchObject([{ name: 'alpha' }, { name: 'beta', labels: ['gpu'] }]);

    // What a member on the other machine did is read from there.
    await until('the task is done', async () => (await a.task('spread', '1')).status === 'completed', 30_000);
    const { entries } = await a.connection.call('transcript.read', { teamId: 'spread', memberId: 'm3' });
    expect(entries.map(({ type }) => type)).toContain('shown');

    // The one that only another machine may run waits for that machine.
    expect(placed).not.toHaveProperty('m5');
    await startMachine('gamma', journal);
    await until('it runs there', async () => (await places(a))['m5'] === 'gamma', 40_000);
  });

  test('refuses a second daemon of the same name', async () => {
    const journal = await newJournal();
    await startMachine('alpha', journal);
    await expect(startMachine('alpha', journal)).rejects.toThrow(/Another daemon on this journal is called alpha/);
  });

  test('starts a teammate once, however many ask for it at the same time', async () => {
    const journal = await newJournal();
    const machines = [await startMachine('alpha', journal), await startMachine('beta', journal)];
    await machines[0]!.connection.call('team.create', { name: 'race', maxTeammates: 32 });
    const agent = { kind: 'exec' as const, command: SHELL };
    const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
    for (const name of names) {
      const asked = await Promise.allSettled(
        machines.map(({ connection }) => connection.call('member.spawn', { teamId: 'race', name, agent, cwd: '/' })),
      );
      expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await machines[0]!.connection.call('member.stop', { teamId: 'race', memberId: name });
    }
    const events = await eventsOf(machines[1]!, 'race');
    for (const name of names) {
      expect(events.filter((event) => event.type === 'teammate:joined' && event.memberId === name)).toHaveLength(1);
      expect(
        events.filter((event) => event.type === 'teammate:placed' && event.memberId === name).length,
      ).toBeLessThanOrEqual(1);
    }
  });

  test('completes every task once while machines die, pause, are cut off, and the leader of the stream falls', async (context) => {
    context.skip(
      process.env['TROUPE_LONG_TESTS'] !== '1',
      'it came to a halt at times, which is not understood yet: TROUPE_LONG_TESTS=1 runs it',
    );
    const cluster = await startNats({ size: 3 });
    onTestFinished(() => cluster.stop());
    const journal = await newJournal(cluster, 3);
    const admin = await openAdmin(cluster);
    onTestFinished(() => admin.close());
    const a = await startMachine('alpha', journal);
    const b = await startMachine('beta', journal);
    const c = await startMachine('gamma', journal);
    const d = await startMachine('delta', journal, { proxied: true });
    const members = Array.from({ length: 12 }, (_, i) => ({ name: `m${i}`, agent: { exec: SHELL } }));
    const tasks = Array.from({ length: TASKS }, (_, i) => ({
      id: `t${i}`,
      title: `task ${i}`,
      needs: i < 12 ? [] : [`t${i - 12}`],
    }));
    const source = JSON.stringify({ team: 'many', members, tasks, limits: { maxTeammates: 12 } });
    await a.connection.call('team.up', { source, folder: temporaryFolder() });
    const done = async (count: number) =>
      until(
        `${count} tasks are done`,
        async () => (await a.connection.call('team.status', { teamId: 'many' })).tasks.completed! >= count,
        60_000,
      );

    await done(TASKS * 0.1);
    // A machine dies with all that is on it.
    signalAll(b, 'SIGKILL');
    await done(TASKS * 0.25);
    // One is paused for longer than its lease, its members with it.
    signalAll(c, 'SIGSTOP');
    await until('its members are elsewhere', async () => (await hostsOf(a)).every((host) => host !== 'gamma'), 60_000);
    signalAll(c, 'SIGCONT');
    await done(TASKS * 0.5);
    // One is cut off from the servers, and comes back.
    d.proxy!.cut();
    await until('its members are elsewhere', async () => (await hostsOf(a)).every((host) => host !== 'delta'), 60_000);
    d.proxy!.mend();
    await done(TASKS * 0.7);
    const stream = (await admin.jsm.streams.names().next()).find((name) => name.endsWith('_many')) ?? '';
    const leader = await admin.leaderOf(stream);
    await leader.kill();
    await done(TASKS * 0.85);
    await leader.start();
    await done(TASKS);

    const events = await eventsOf(a, 'many');
    const completed = events.flatMap((event) => (event.type === 'task:completed' ? [event.taskId] : []));
    expect(completed.sort()).toEqual(tasks.map((_, i) => String(i + 1)).sort());
    const claims = events.flatMap((event) =>
      event.type === 'task:claimed' ? [`${event.taskId} at ${event.epoch}`] : [],
    );
    expect(new Set(claims).size).toBe(claims.length);
    const lost = events.filter((event) => event.type === 'teammate:stopped' && event.reason?.includes('is gone'));
    expect(lost.length).toBeGreaterThanOrEqual(3);
  });
});

/** A program that takes its time and costs next to nothing. */
const SHELL = ['sh', '-c', 'cat > /dev/null; sleep 0.2; echo done'];
const TASKS = Number(process.env['TROUPE_MACHINE_TASKS'] ?? 120);

/** The daemon first, so that it does not see the others go. */
function signalAll({ daemon, home }: Machine, signal: NodeJS.Signals): void {
  for (const pid of [daemon.pid, ...processesOf(home).map((one) => one.pid)]) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself.
    }
  }
}

async function eventsOf({ connection }: Machine, teamId: string): Promise<TeamEvent[]> {
  const events: TeamEvent[] = [];
  for (let after = 0; ;) {
    const batches = await connection.call('event.list', { teamId, after });
    const last = batches.at(-1);
    if (!last) return events;
    events.push(...batches.flatMap((batch) => batch.events as TeamEvent[]));
    after = last.seq;
  }
}

async function hostsOf({ connection }: Machine): Promise<string[]> {
  const { members } = await connection.call('team.show', { teamId: 'many' });
  return members.flatMap(({ hostId, status }) => (hostId !== undefined && status !== 'stopped' ? [hostId] : []));
}
