import { readTeammateCommand } from '../../src/runtime/teammate-command.ts';
import { TEAM } from './cast.ts';
import type { Fault } from './fault.ts';
import { NATIVE_FAULTS } from './native/faults.ts';
import { healServers, NATS_FAULTS } from './nats/faults.ts';
import { NETWORK_FAULTS } from './network-faults.ts';
import { gates, isAgent, members, table } from './processes.ts';
import { scheduler } from './scheduler.ts';
import { sqlite, UNHURT } from './stand-ins/sqlite.ts';
import { FILE_FAULTS, STORE_FAULTS } from './storage-faults.ts';
import type { World } from './world.ts';

const random = () => scheduler.random('faults');

const FAULTS: readonly Fault[] = [
  {
    name: 'a daemon is killed',
    weight: 4,
    strike(world) {
      const machine = random().pick(world.machines);
      if (machine.isDown) return undefined;
      machine.kill();
      // Longer than a lease, on several machines.
      const isLong = random().chance(world.isShared ? 0.6 : 0.3);
      world.later(random().between(50, isLong ? 60_000 : 9_000), () => machine.start());
      return machine.name;
    },
  },
  {
    name: 'a member is killed',
    weight: 4,
    strike() {
      const running = members();
      if (running.length === 0) return undefined;
      const process = random().pick(running);
      table.end(process, { code: null, signal: 'SIGKILL' });
      return `${process.machine} ${process.command.slice(1, 6).join(' ')}`;
    },
  },
  {
    name: 'the program of an agent is killed',
    weight: 1,
    strike() {
      const running = table.running().filter(({ command }) => isAgent(command));
      if (running.length === 0) return undefined;
      const agent = random().pick(running);
      table.end(agent, { code: null, signal: 'SIGKILL' });
      return `${agent.machine} ${agent.pid}`;
    },
  },
  {
    name: 'others get the numbers of processes that end',
    weight: 2,
    strike() {
      const ms = random().between(5_000, 60_000);
      table.scarceUntil = Math.max(table.scarceUntil, scheduler.now + ms);
      return `${table.giveAway()} at once, and for ${Math.round(ms)} ms`;
    },
  },
  {
    name: 'a gate is killed or stopped',
    weight: 2,
    strike(world) {
      const running = gates();
      if (running.length === 0) return undefined;
      const gate = random().pick(running);
      const { owner, pid, machine } = gate;
      const way = random().pick(['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const);
      if (way !== 'SIGSTOP') table.signal(gate, way);
      else if (!owner.isPaused) {
        owner.isPaused = true;
        world.later(random().between(100, 90_000), () => scheduler.resume(owner));
      }
      return `${machine} ${pid}: ${way}`;
    },
  },
  {
    name: 'the daemon is killed while a gate runs',
    weight: 2,
    strike(world) {
      const running = gates();
      if (running.length === 0) return undefined;
      const { machine: name } = random().pick(running);
      const machine = world.machines.find((one) => one.name === name);
      if (!machine || machine.isDown) return undefined;
      machine.kill();
      world.later(random().between(50, 9_000), () => machine.start());
      return name;
    },
  },
  {
    name: 'the gate is removed for a while',
    weight: 1,
    strike(world) {
      const ms = random().between(100, 20_000);
      world.person.does(() => world.person.removeGate(ms));
      return `${Math.round(ms)} ms`;
    },
  },
  {
    name: 'a person makes a member the lead that does not answer',
    weight: 2,
    strike(world) {
      const running = members().filter(({ owner }) => !owner.isPaused);
      if (world.isNative || running.length === 0) return undefined;
      const { owner, command } = random().pick(running);
      const { memberId = '' } = readTeammateCommand(command.join(' ')) ?? {};
      owner.isPaused = true;
      world.later(random().between(5_000, 20_000), () => scheduler.resume(owner));
      world.person.does(() => world.person.call('team.update', { teamId: TEAM, leadId: memberId }));
      return memberId;
    },
  },
  {
    name: 'somebody terminates a member',
    weight: 1,
    strike() {
      const running = members();
      if (running.length === 0) return undefined;
      const member = random().pick(running);
      table.signal(member, 'SIGTERM');
      return `${member.machine} ${member.pid}`;
    },
  },
  {
    name: 'a machine loses power',
    weight: 2,
    strike(world) {
      const machine = random().pick(world.machines);
      machine.lose();
      world.later(random().between(500, 40_000), () => machine.start());
      return machine.name;
    },
  },
  {
    name: 'a daemon is stopped for a while',
    weight: 2,
    strike(world) {
      const { daemon, name } = random().pick(world.machines);
      if (!daemon || daemon.owner.isPaused) return undefined;
      daemon.owner.isPaused = true;
      world.later(random().between(100, 15_000), () => scheduler.resume(daemon.owner));
      return name;
    },
  },
  {
    name: 'a member is stopped for a while',
    weight: 2,
    strike(world) {
      const running = members().filter(({ owner }) => !owner.isPaused);
      if (running.length === 0) return undefined;
      const { owner } = random().pick(running);
      owner.isPaused = true;
      world.later(random().between(100, 15_000), () => scheduler.resume(owner));
      return owner.name;
    },
  },
  {
    name: 'a machine sleeps for a while',
    weight: 2,
    strike(world) {
      const { name, daemon } = random().pick(world.machines);
      const natives = world.native?.owners() ?? [];
      const owners = [...(daemon ? [daemon.owner] : []), ...natives, ...table.running(name).map(({ owner }) => owner)];
      const awake = owners.filter(({ isPaused }) => !isPaused);
      for (const owner of awake) owner.isPaused = true;
      world.later(random().between(1_000, 40_000), () => awake.forEach((owner) => scheduler.resume(owner)));
      return name;
    },
  },
  ...NETWORK_FAULTS,
  {
    name: 'gates cannot be started',
    weight: 2,
    strike(world) {
      const isAway = random().chance(0.5);
      world.gates.fails = { until: scheduler.now + random().between(500, 10_000), isAway };
      return isAway ? 'away' : 'EAGAIN';
    },
  },
  {
    name: 'gates reject often for a while',
    weight: 2,
    strike(world) {
      // It may go on when all other faults are over: a person is asked then.
      const [ms, chance] = [random().between(30_000, 300_000), random().pick([0.6, 0.9, 1])];
      world.gates.strict = { until: scheduler.now + ms, chance };
      return `${Math.round(100 * chance)} % for ${Math.round(ms)} ms`;
    },
  },
  {
    name: 'git fails on a machine',
    weight: 2,
    strike(world) {
      const { name } = random().pick(world.machines);
      world.gitAway.set(name, scheduler.now + random().between(500, 10_000));
      return name;
    },
  },
  {
    name: 'a machine is busy',
    weight: 3,
    strike(world) {
      const { name } = random().pick(world.machines);
      world.network.busy.set(name, random().between(10, 3_000));
      world.later(random().between(1_000, 15_000), () => world.network.busy.delete(name));
      return name;
    },
  },
  {
    name: 'a person intervenes',
    weight: 7,
    strike(world) {
      world.person.does(() => world.person.intervene());
      return '';
    },
  },
  ...STORE_FAULTS,
  {
    name: 'a clock jumps',
    weight: 1,
    strike(world) {
      const { name } = random().pick(world.machines);
      const ms = Math.round(random().between(-5_000, 60_000));
      scheduler.wrong.set(name, (scheduler.wrong.get(name) ?? 0) + ms);
      return `${name} by ${ms} ms`;
    },
  },
  {
    name: 'an account is closed',
    weight: 2,
    strike(world) {
      const account = world.accountOf(`w${1 + random().below(2)}`);
      const isNamed = random().chance(0.6);
      const until = scheduler.now + random().between(5_000, isNamed ? 120_000 : 30_000);
      world.closed.set(account, { until, isNamed });
      return account;
    },
  },
  {
    name: 'a member is killed, and again whenever it starts, for a while',
    weight: 1,
    strike(world) {
      const running = members();
      if (running.length === 0) return undefined;
      const process = random().pick(running);
      const { memberId = '' } = readTeammateCommand(process.command.join(' ')) ?? {};
      world.doomed.set(memberId, scheduler.now + random().between(3_000, 30_000));
      table.end(process, { code: null, signal: 'SIGKILL' });
      return memberId;
    },
  },
  ...FILE_FAULTS,
  ...NATIVE_FAULTS,
  ...NATS_FAULTS,
];

/** Lets so many things go wrong, `apartMs` apart at most. A fault whose number is skipped does not happen; the others do. */
export function strikeAgain(
  world: World,
  count: number,
  { skipped = new Set(), apartMs = 5_000 }: { skipped?: ReadonlySet<number>; apartMs?: number } = {},
): { isOver: () => boolean } {
  let number = 0;
  const possible = FAULTS.filter(
    ({ isShared, isNative, isInFile, isOnNats, isOfStore }) =>
      (!isShared || world.isShared) &&
      (!isNative || world.isNative) &&
      (!isInFile || world.isInFile) &&
      (!isOnNats || world.isOnNats) &&
      (!isOfStore || world.stores().length > 0),
  );
  const bag = possible.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  const next = (): void => {
    if (number >= count) return;
    const fault = random().pick(bag);
    const what = skipped.has(number) ? undefined : fault.strike(world);
    if (what !== undefined) world.log(`fault ${number}: ${fault.name}: ${what}`);
    number++;
    world.later(random().between(100, apartMs), next);
  };
  world.later(2_000, next);
  return { isOver: () => number >= count };
}

/** Everything works again. */
export function heal(world: World): void {
  world.network.parted.clear();
  world.network.busy.clear();
  world.gitAway.clear();
  world.doomed.clear();
  Object.assign(world.network, { loss: 0, repeats: 0, slowest: 5 });
  for (const store of world.stores()) Object.assign(store, { refusing: 0, failing: 0, slowest: 0 });
  for (const machine of world.machines) {
    if (machine.daemon?.owner.isPaused) scheduler.resume(machine.daemon.owner);
    machine.start();
  }
  for (const { owner } of table.running()) if (owner.isPaused) scheduler.resume(owner);
  world.claimed = () => {};
  Object.assign(sqlite, UNHURT);
  if (world.nats) healServers(world.nats);
  world.native?.heal();
  world.isFaulty = false;
}
