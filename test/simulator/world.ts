import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTeammateCommand } from '../../src/runtime/teammate-command.ts';
import { Repository } from '../runtime/landing/repository.ts';
import type { Around, Folders } from './around.ts';
import { BASE, TEAM } from './cast.ts';
import type { Cast } from './cast.ts';
import { Checks } from './checks.ts';
import type { Daemon } from './daemon.ts';
import { Gates, isGate } from './gates.ts';
import { Machine } from './machine.ts';
import { runAgent, runMember } from './member.ts';
import { NativeTeam } from './native/team.ts';
import type { SimulatedNats } from './nats/servers.ts';
import { startServers } from './nats/world.ts';
import { Network } from './network.ts';
import { Person } from './person.ts';
import { isAgent, table } from './processes.ts';
import { scheduler, WORLD } from './scheduler.ts';
import type { Owner } from './scheduler.ts';
import { nats } from './stand-ins/nats.ts';
import { forgetStored, sqlite } from './stand-ins/sqlite.ts';
import { Store } from './store.ts';
import type { OnStored } from './store.ts';
import { worked } from './works.ts';

/** How long a process that ends may take, with its agent. */
const ENDING_MS = 6_000;

/** Machines, their network and store, a team, and the person who wants something of it. */
export class World implements Around {
  readonly cast: Cast;
  readonly isShared: boolean;
  readonly network = new Network();
  readonly repository = new Repository(BASE);
  readonly saves = new Map<string, string>();
  readonly machines: Machine[];
  readonly checks: Checks;
  readonly gates: Gates;
  readonly log: (text: string) => void;
  /** Looks at what no single event shows. */
  watch: (() => void) | undefined;
  readonly native: NativeTeam | undefined;
  /** Called once, when one of ours has claimed a task. */
  claimed = (): void => {};
  readonly isNative: boolean;
  readonly isInFile: boolean;
  readonly nats: SimulatedNats | undefined;
  readonly onStored: OnStored;
  /** Agents fail, hang and are refused only while it is. */
  isFaulty = true;
  /** Until when each account is closed, and whether its provider says so. */
  readonly closed = new Map<string, { until: number; isNamed: boolean }>();
  /** Until when each member dies as soon as it starts. */
  readonly doomed = new Map<string, number>();
  /** Until when git fails, by machine. */
  readonly gitAway = new Map<string, number>();
  readonly #store: Store | undefined;
  readonly #stores = new Map<string, Store>();
  readonly #directory: string;
  readonly person: Person;

  constructor(cast: Cast, trace: (text: string) => void) {
    this.cast = cast;
    this.person = new Person(this);
    // The folder has another name each time.
    const log = (text: string): void => trace(text.replaceAll(this.#directory, ''));
    this.log = log;
    this.isShared = cast.machines > 1 || cast.nats !== undefined;
    this.#directory = mkdtempSync(join(tmpdir(), 'troupe-simulation-'));
    const { repository } = this;
    this.gates = new Gates({ repository, checks: () => this.checks, isFaulty: () => this.isFaulty });
    this.checks = new Checks(TEAM, {
      isShared: this.isShared,
      isPassed: (merged) => this.gates.isPassed(merged),
      log,
    });
    const onStored: OnStored = (_team, batch) => {
      for (const event of batch.events) log(`stored ${batch.seq} ${JSON.stringify(event)}`);
      this.checks.stored(batch);
      for (const event of batch.events) this.native?.checks.stored(event);
      if (batch.events.some(({ type, by }) => type === 'task:claimed' && by.startsWith('w'))) {
        this.claimed();
        this.claimed = () => {};
      }
    };
    this.isInFile = cast.isInFile === true;
    this.onStored = onStored;
    sqlite.reset();
    forgetStored();
    nats.reset();
    const { network } = this;
    this.nats =
      cast.nats === undefined ? undefined : startServers({ version: cast.nats, network, team: TEAM, onStored });
    this.#store = this.isShared && !this.nats ? new Store(this.network, onStored) : undefined;
    this.machines = Array.from({ length: cast.machines }, (_, at) => {
      const name = `m${at + 1}`;
      const directory = join(this.#directory, name);
      mkdirSync(directory);
      if (!this.isShared) this.#stores.set(name, new Store(this.network, onStored, name));
      return new Machine(this, name, directory);
    });
    this.isNative = cast.native !== undefined;
    table.reset((options, signal, self) => {
      const who = readTeammateCommand(options.command.join(' '));
      const machine = this.machines.find(({ name }) => name === self.machine);
      if (who && machine) {
        this.checks.restarts.began(who.memberId);
        if ((this.doomed.get(who.memberId) ?? 0) > scheduler.now) return Promise.resolve(1);
        return runMember(this, machine, { ...who, marker: self.marker }, signal);
      }
      if (isAgent(options.command)) return runAgent(signal);
      if (!machine || !isGate(options.command)) return Promise.resolve(1);
      const { directory, folders } = machine;
      return this.gates.run(options, { signal, self, directory, folders });
    });
    table.struck = (what) => this.checks.fail(`A signal of Troupe reached another process: ${what}`);
    table.refuse = (options) => this.gates.refusal(options);
    this.native = cast.native
      ? new NativeTeam({
          name: TEAM,
          version: cast.native,
          machine: 'm1',
          ours: Array.from({ length: cast.members }, (_, at) => `w${at + 1}`),
          checks: this.checks,
          isFaulty: () => this.isFaulty,
          log,
        })
      : undefined;
    const { native } = this;
    if (native) this.checks.onClaim = (taskId, memberId) => native.checks.claimed(taskId, memberId);
  }

  get isOnNats(): boolean {
    return this.nats !== undefined;
  }

  loseNatives(): void {
    this.native?.lose();
  }

  async claims(): Promise<void> {
    await this.native?.raceClaim();
  }

  isGitAway(machine: string): boolean {
    return (this.gitAway.get(machine) ?? 0) > scheduler.now;
  }

  storeOf(name: string): Store {
    return (this.#store ?? this.#stores.get(name)) as Store;
  }

  stores(): Store[] {
    return this.#store ? [this.#store] : [...this.#stores.values()];
  }

  /** Does something later that no machine does. */
  later(ms: number, work: () => void): void {
    scheduler.plan(ms, work, WORLD);
  }

  accountOf(memberId: string): string {
    return `exec@account-${Number(memberId.slice(1)) % 2}`;
  }

  checkAlone(memberId: string, machine: string): void {
    for (const other of this.machines) {
      const { name, goneSince, leaseMs = Infinity } = other;
      if (name === machine || goneSince === undefined) continue;
      // A process that was stopped notices when it goes on that its daemon is gone.
      const isOver = ({ resumedAt }: Owner): boolean =>
        scheduler.now - Math.max(goneSince, resumedAt) >= leaseMs + ENDING_MS;
      const isThere = table
        .running(name)
        .some(({ command, owner }) => isOver(owner) && !owner.isPaused && command.includes(memberId));
      this.checks.require(
        !isThere,
        `${memberId} begins a turn on ${machine}, and still runs on ${name} without a daemon`,
      );
    }
  }

  otherThan(memberId: string): string {
    return `w${(Number(memberId.slice(1)) % this.cast.members) + 1}`;
  }

  /** What the provider of a member says to a turn that begins now. */
  refusalOf(memberId: string): { trouble: 'limited' | 'overloaded'; resetsAt?: number } | undefined {
    const closed = this.closed.get(this.accountOf(memberId));
    if (!closed || closed.until <= scheduler.now) return undefined;
    if (!closed.isNamed) return { trouble: 'overloaded' };
    return { trouble: 'limited', resetsAt: scheduler.wall() + closed.until - scheduler.now };
  }

  anyDaemon(): Daemon | undefined {
    const open = this.machines.flatMap(({ daemon }) => (daemon?.isOpen ? daemon : []));
    return open.length > 0 ? scheduler.random('person').pick(open) : undefined;
  }

  /** A member does its task, in its folder on a machine. */
  edit(folders: Folders, memberId: string, taskId: string): void {
    const folder = folders.get(memberId);
    if (this.cast.apart && folder) folder.files = worked(folder.files, taskId);
  }

  /** Removes what it left on the real disk. */
  remove(): void {
    sqlite.reset();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
