import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setUpNatsJournal } from '../../../src/journal/nats/setup.ts';
import { serve } from '../../daemon/serve.ts';
import { linesOf } from '../../lines-of.ts';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { rounds } from '../../proof.ts';
import { until } from '../../until.ts';
import { isAlive } from '../stage.ts';
import { acquaint, eventsOf, hostsOf, LONG_MS, newJournal, SHELL, signalAll, startMachine } from './stage.ts';
import type { Machine } from './stage.ts';

const TEAMMATES = rounds(3, 100);

/** A lease that the tests wait for, and that a machine does not lose only because it is slow. */
const LEASE_MS = 10_000;

describe('a team on several machines', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test('places members by host and label, starts each once, and continues a turn after a daemon restart', async () => {
    const journal = await newJournal(servers, { leaseMs: LONG_MS });
    const [a, b] = await Promise.all([
      startMachine('alpha', journal),
      startMachine('beta', journal, { labels: ['gpu'] }),
    ]);
    const c = await spread(a, b, journal);
    await race([a, b, c]);
    await kept(a, b);
    await stoppedForGood(a, b);
  });

  test('follows a shorter lease without losing a live machine; shows lost members and why they wait; starts them elsewhere only when their processes have ended', async () => {
    const journal = await newJournal(servers, { leaseMs: 3 * LEASE_MS });
    const [a, b] = await Promise.all([startMachine('alpha', journal), startMachine('beta', journal)]);
    const upOf = (team: string, members: readonly object[], tasks: readonly object[] = []) =>
      a.connection.call('team.up', { yes: true, source: JSON.stringify({ team, members, tasks }), folder: '/' });
    const agent = { exec: SHELL };
    await upOf(
      'short',
      ['alpha', 'beta'].map((host, i) => ({ name: `m${i}`, host, agent })),
    );
    const picky = { name: 'picky', labels: ['gpu'], agent };
    await upOf('tied', [{ name: 'bound', host: 'beta', agent }, picky], [{ title: 'Do it' }]);
    const show = (memberId: string) => a.connection.call('member.show', { teamId: 'tied', memberId });
    await until('both run', async () => (await hostsOf(b, 'short')).length === 2);
    await until('it runs', async () => (await show('bound')).hostId === 'beta');
    const waited: string[] = [];
    const setup = await setUpNatsJournal(journal, { leaseMs: LEASE_MS, onWait: (names) => waited.push(...names) });
    expect(setup).toMatchObject({ leaseMs: LEASE_MS, before: { leaseMs: 3 * LEASE_MS } });
    // Lists daemons that had not adopted the new lease at the first check; which ones depends on timing.
    expect(['alpha', 'beta']).toEqual(expect.arrayContaining(waited));
    // A machine that dies now is found by the new lease. Before that no member was lost.
    signalAll(b, 'SIGKILL');
    await until('beta is lost', async () => (await hostsOf(a, 'short')).length === 1);
    const lost = (await eventsOf(a, 'short')).filter(({ type }) => type === 'teammate:stopped');
    expect(lost).toMatchObject([{ memberId: 'm1' }]);

    await until('it is lost', async () => (await show('bound')).status === 'stopped');
    await until('the other is told why it waits', async () => (await show('picky')).metadata !== undefined);
    const why = 'it must run on the machine beta, which is not connected: run troupe serve --name beta there';
    const said = async (...words: string[]) => {
      const { stdout, stderr } = await a.troupe(...words);
      return `${stdout}${stderr}`.replace(/\s+/g, ' ');
    };
    expect(await said('ps')).toMatch(/tied bound lost waits: it must run on the machine beta, .* on beta /);
    for (const words of [['status'], ['team', 'status', 'tied'], ['member', 'list', '--team', 'tied']]) {
      expect(await said(...words), words.join(' ')).toContain(`bound waits: ${why}`);
      expect(await said(...words), words.join(' ')).toContain('picky waits: no machine has what it needs (gpu)');
    }
    expect(await said('team', 'status', 'tied')).toMatch(/ bound teammate lost /);
    expect(await said('member', 'show', 'bound', '--team', 'tied')).toMatch(new RegExp(`status lost .* waits ${why}`));
    expect(await said('task', 'assign', '1', 'bound', '--team', 'tied')).toContain(
      `bound of team tied is lost: ${why}`,
    );
    expect(await said('logs', 'picky', '--team', 'tied')).toContain(
      'has no transcript: it has not started: no machine has',
    );
    // When its machine is back, the member runs again and no longer waits.
    await serve(b.home);
    await until('it runs again', async () => ['idle', 'active'].includes((await show('bound')).status));
    expect((await show('bound')).metadata).toBeUndefined();
    await outlived(a, b);
  });
});

/** Bound members run on their machine, the others are spread, and each machine shows it. Returns a third machine. */
async function spread(a: Machine, b: Machine, journal: string): Promise<Machine> {
  await expect(startMachine('alpha', journal)).rejects.toThrow(/Another daemon on this journal has the name alpha/);
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
  await acquaint(a, b);
  await a.connection.call('team.up', { yes: true, source: JSON.stringify(file), folder: a.folder });
  const places = async (from: Machine) => {
    const { members } = await from.connection.call('team.show', { teamId: 'spread' });
    return Object.fromEntries(
      members.flatMap(({ id, hostId, status }) => (hostId && status !== 'spawning' ? [[id, hostId]] : [])),
    );
  };
  await until('all but one run', async () => Object.keys(await places(b)).length === 4);
  const placed = await places(a);
  expect(placed).toMatchObject({ m3: 'beta', m4: 'alpha' });
  expect(Object.values(placed).sort()).toEqual(['alpha', 'alpha', 'beta', 'beta']);
  const { hosts } = await a.connection.call('daemon.status', {});
  expect(hosts).toMatchObject([{ name: 'alpha' }, { name: 'beta', labels: ['gpu'] }]);

  // The transcript of a member on the other machine can be read.
  await until('the task is done', async () => (await a.task('spread', '1')).status === 'completed');
  const { entries } = await a.connection.call('transcript.read', { teamId: 'spread', memberId: 'm3' });
  expect(entries.map(({ type }) => type)).toContain('shown');

  // The member that is bound to gamma waits for that machine.
  expect(placed).not.toHaveProperty('m5');
  const c = await startMachine('gamma', journal);
  await until('it runs there', async () => (await places(a))['m5'] === 'gamma');
  return c;
}

/** A teammate is started once, even if two machines ask for it at the same time. */
async function race(machines: readonly [Machine, Machine, ...Machine[]]): Promise<void> {
  const [a, b] = machines;
  await a.connection.call('team.create', { name: 'race', maxTeammates: 32 });
  const agent = { kind: 'exec' as const, command: SHELL };
  const names = Array.from({ length: TEAMMATES }, (_, i) => `m${i}`);
  const seen = new Map<string, Set<string>>();
  const contest = async (name: string): Promise<void> => {
    const running = () =>
      machines.flatMap((machine) =>
        machine
          .records()
          .filter(
            ({ teamId, memberId, identity }) =>
              teamId === 'race' && memberId === name && identity && isAlive(identity.pid),
          ),
      );
    const note = (id: string): void => void seen.set(name, (seen.get(name) ?? new Set()).add(id));
    const asked = await Promise.allSettled(
      [a, b].map(({ connection }) => connection.call('member.spawn', { teamId: 'race', name, agent, cwd: '/' })),
    );
    expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    // Waits until the member reports that it is idle. A second process would have started by then.
    await until(`${name} is at work`, async () => {
      for (const { id } of running()) note(id);
      const { members } = await b.connection.call('team.show', { teamId: 'race' });
      return members.some(({ id, status }) => id === name && status === 'idle');
    });
    const left = running();
    expect(left, name).toHaveLength(1);
    for (const { id } of left) note(id);
    await a.connection.call('member.stop', { teamId: 'race', memberId: name });
  };
  // Five names at a time: the calls for each still collide, and most of the time goes into starting processes.
  for (let i = 0; i < names.length; i += 5) await Promise.all(names.slice(i, i + 5).map(contest));
  expect([...seen.values()].map(({ size }) => size)).toEqual(names.map(() => 1));
  const events = await eventsOf(b, 'race');
  for (const name of names) {
    expect(events.filter((event) => event.type === 'teammate:joined' && event.memberId === name)).toHaveLength(1);
    expect(events.filter((event) => event.type === 'teammate:placed' && event.memberId === name)).toHaveLength(1);
  }
}

/** A process continues its turn if its daemon, killed or stopped with --keep, is back within the lease. */
async function kept(a: Machine, b: Machine): Promise<void> {
  const { source, go, turns } = longTask('kept', b, { host: 'beta' });
  await a.connection.call('team.up', { yes: true, source, folder: '/' });
  await until('it works', async () => readTurns(turns).length === 1);
  const left = b.records().find(({ teamId }) => teamId === 'kept');
  process.kill(b.daemon.pid, 'SIGKILL');
  await serve(b.home);
  expect((await b.troupe('stop', '--keep')).code).toBe(0);
  await serve(b.home);
  expect(isAlive(left!.identity!.pid)).toBe(true);
  writeFileSync(go, '');
  await until('it is done', async () => (await a.task('kept', '1')).status === 'completed');
  expect(readTurns(turns)).toHaveLength(1);
}

/** A team of one member. Its task ends when the file `go` exists, and every turn logs its process id in `turns`. */
function longTask(team: string, { folder }: Machine, where: object = {}) {
  const [go, turns] = [join(folder, 'go'), join(folder, 'turns')];
  const script = 'cat > /dev/null; echo $$ >> "$TURNS"; until [ -e "$GO" ]; do sleep 0.1; done; echo done';
  const members = [{ name: 'm', agent: { exec: ['sh', '-c', script] }, env: { GO: go, TURNS: turns }, ...where }];
  return { source: JSON.stringify({ team, members, tasks: [{ title: 'Once' }] }), go, turns };
}

function readTurns(path: string): number[] {
  return linesOf(path).map(Number);
}

/** A member's process without a daemon ends its agent when the lease expires, before another starts. */
async function outlived(a: Machine, b: Machine): Promise<void> {
  const { source, go, turns } = longTask('outlived', b);
  await a.connection.call('team.up', { yes: true, source, folder: '/' });
  await until('it works', async () => readTurns(turns).length === 1);
  const [agent] = readTurns(turns);
  const [first] = await hostsOf(a, 'outlived');
  const [dies, lives] = first === a.name ? [a, b] : [b, a];
  const left = dies.records().find(({ teamId }) => teamId === 'outlived');
  process.kill(dies.daemonPid(), 'SIGKILL');
  await until('another works on it', () => readTurns(turns).length === 2);
  expect(await hostsOf(lives, 'outlived')).toContain(lives.name);
  expect(isAlive(agent!)).toBe(false);
  expect(isAlive(left!.identity!.pid)).toBe(false);
  const log = readFileSync(join(dies.home.processes, `${left!.id}.log`), 'utf8');
  expect(log).toContain('unreachable for 5 s: another machine may soon run m');
  writeFileSync(go, '');
  await until('it is done', async () => (await lives.task('outlived', '1')).status === 'completed');
  const claims = (await eventsOf(lives, 'outlived')).filter(({ type }) => type === 'task:claimed');
  expect(claims).toHaveLength(2);
}

/** The kill switch of one machine is known to the others at once: they would start its members after its lease. */
async function stoppedForGood(a: Machine, b: Machine): Promise<void> {
  const members = [{ name: 'ended', labels: ['gpu'], agent: { exec: SHELL } }];
  await a.connection.call('team.up', { yes: true, source: JSON.stringify({ team: 'ending', members }), folder: '/' });
  const show = () => a.connection.call('member.show', { teamId: 'ending', memberId: 'ended' });
  await until('it runs', async () => {
    const { hostId, status } = await show();
    return hostId === b.name && status === 'idle';
  });
  const { code, stderr } = await b.troupe('stop', '--all');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const ended = await show();
  expect(ended).toMatchObject({ status: 'stopped', stopReason: 'stopped by troupe stop --all' });
  expect(ended.returning).toBeFalsy();
}
