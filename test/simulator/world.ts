import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { USER } from '../../src/core/actor.ts';
import { JoinInput } from '../../src/core/member.ts';
import { parse } from '../../src/core/parse.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import { callOperation } from '../../src/operations/index.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { readTeammateCommand } from '../../src/runtime/teammate-command.ts';
import { Repository } from '../runtime/landing/repository.ts';
import type { Files } from '../runtime/landing/repository.ts';
import type { Around, Folders } from './around.ts';
import { Checks } from './checks.ts';
import type { Daemon } from './daemon.ts';
import { GATE, Gates, isGate } from './gates.ts';
import { Machine } from './machine.ts';
import { runMember } from './member.ts';
import type { Version } from './native/claude-files.ts';
import { NativeTeam } from './native/team.ts';
import { Network } from './network.ts';
import { OUTSIDER, startClients } from './outsider.ts';
import { later, newOwner, scheduler, WORLD } from './scheduler.ts';
import type { Owner } from './scheduler.ts';
import { table } from './stand-ins/processes.ts';
import { forgetStored, sqlite } from './stand-ins/sqlite.ts';
import { Store } from './store.ts';
import type { OnStored } from './store.ts';
import { isUnresolved, resolve } from './works.ts';

export const TEAM = 'crew';

const BASE = '1'.repeat(40);

/** How long a process that ends may take, with its agent. */
const ENDING_MS = 6_000;

/** What a run is made of; the seed draws it. */
export interface Cast {
  readonly machines: number;
  readonly members: number;
  readonly tasks: number;
  /** In workspaces of their own, with a merge queue. */
  readonly apart: boolean;
  /** The journal is the real one, on SQLite. */
  readonly isInFile?: boolean;
  /** The team is joined to one of Claude Code's, of this version. */
  readonly native?: Version;
}

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
  readonly isNative: boolean;
  readonly isInFile: boolean;
  readonly onStored: OnStored;
  /** Agents fail, hang and are refused only while it is. */
  isFaulty = true;
  /** Until when each account is closed, and whether its provider says so. */
  readonly closed = new Map<string, { until: number; isNamed: boolean }>();
  /** Until when git fails, by machine. */
  readonly gitAway = new Map<string, number>();
  readonly #store: Store | undefined;
  readonly #stores = new Map<string, Store>();
  readonly #directory: string;
  readonly #person = newOwner('person');

  constructor(cast: Cast, trace: (text: string) => void) {
    this.cast = cast;
    // The folder has another name each time.
    const log = (text: string): void => trace(text.replaceAll(this.#directory, ''));
    this.log = log;
    this.isShared = cast.machines > 1;
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
    };
    this.isInFile = cast.isInFile === true;
    this.onStored = onStored;
    sqlite.reset();
    forgetStored();
    this.#store = this.isShared ? new Store(this.network, onStored) : undefined;
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
      if (who && machine) return runMember(this, machine, who, signal);
      if (!machine || !isGate(options.command)) return Promise.resolve(1);
      const { directory, folders } = machine;
      return this.gates.run(options, { signal, self, directory, folders });
    });
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

  loseNatives(): void {
    this.native?.lose();
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

  /** A member does its task: it adds a line to a file that others change, too. Some do it badly at first. */
  edit(folders: Folders, memberId: string, taskId: string): void {
    const folder = folders.get(memberId);
    if (!this.cast.apart || !folder) return;
    const resolved = isUnresolved(folder.files) ? resolve(folder.files) : folder.files;
    // What somebody landed while there was no gate.
    const files = mapText(resolved, (text) => text.split('\n').filter((line) => !isOthersBad(line, taskId)));
    const path = `file-${Number(taskId) % 4}`;
    const lines = (files[path] ?? '').split('\n').filter(Boolean);
    const bad = `bad ${taskId}`;
    const isMended = lines.includes(bad);
    const isBad = Number(taskId) % 5 === 0 && !lines.includes(`task ${taskId}`);
    const kept = new Set(lines.filter((line) => line !== bad));
    kept.add(`task ${taskId}`);
    if (isBad && !isMended) kept.add(bad);
    folder.files = { ...files, [path]: [...kept].join('\n') };
  }

  /** The person calls some daemon that runs, again under the same id until there is an answer. */
  call<T>(name: OperationName, input: object): Promise<T> {
    return this.#ask((daemon, commandId) =>
      callOperation(daemon.services, name, {
        caller: ADMIN,
        input,
        commandId,
        signal: new AbortController().signal,
      }),
    ) as Promise<T>;
  }

  #execute(command: NewCommand): Promise<unknown> {
    return this.#ask(({ services: { ledger } }, commandId) =>
      ledger.execute(TEAM, { ...command, commandId }, () => undefined),
    );
  }

  async #ask(work: (daemon: Daemon, commandId: string) => Promise<unknown>): Promise<unknown> {
    const commandId = crypto.randomUUID();
    for (;;) {
      const daemon = this.anyDaemon();
      if (daemon) {
        try {
          return await this.network.ask(daemon.owner, () => work(daemon, commandId), 15_000);
        } catch (error) {
          if (!['storage', 'overloaded'].includes((error as { code?: string }).code ?? '')) throw error;
        }
      }
      await later(500);
    }
  }

  anyDaemon(): Daemon | undefined {
    const open = this.machines.flatMap(({ daemon }) => (daemon?.isOpen ? daemon : []));
    return open.length > 0 ? scheduler.random('person').pick(open) : undefined;
  }

  /** Runs something as the person. What goes wrong is a violation, if it should not. */
  asPerson(work: () => Promise<unknown>): void {
    const run = (): void => void work().catch((error: unknown) => this.checks.error(error, { by: 'person' }));
    scheduler.plan(1, run, this.#person);
  }

  /** Brings up the team. */
  async setUp(): Promise<void> {
    const { members, tasks, apart } = this.cast;
    const work = {
      workspaces: 'own',
      repository: '/project',
      prefix: '',
      base: BASE,
      branch: `troupe/${TEAM}`,
    } as const;
    const input = parse(CreateTeamInput, { name: TEAM });
    if (this.native) await this.#ask(({ services }) => services.native.join(TEAM));
    else await this.#execute({ type: 'team.create', by: USER, ...input, ...(apart && { work }) });
    await this.#execute({ type: 'hook.register', by: USER, hook: GATE });
    const random = scheduler.random('cast');
    for (let at = 1; at <= members; at++) {
      const agent = { kind: 'exec', command: ['true'] };
      const joining = parse(JoinInput, {
        name: `w${at}`,
        agent,
        status: 'spawning',
        ...(apart && { workspace: 'own' }),
      });
      await this.#execute({ type: 'member.join', by: USER, ...joining });
    }
    await this.#execute({ type: 'member.join', by: USER, ...parse(JoinInput, { name: OUTSIDER }) });
    startClients(this, TEAM);
    for (let at = 1; at <= tasks; at++) {
      const dependencies = at > 3 && random.chance(0.3) ? [String(1 + random.below(at - 1))] : [];
      await this.call('task.create', { teamId: TEAM, title: `Item ${at}`, dependencies });
    }
  }

  /** What a person does now and then: answers what is asked, tries again what failed. */
  async lookAfter(): Promise<void> {
    const open = await this.call<{ id: string; kind: string }[]>('request.list', { teamId: TEAM, status: 'pending' });
    for (const { id, kind } of open) {
      const said = kind === 'question' ? { feedback: 'Yes' } : {};
      const answer = { teamId: TEAM, requestId: id, approve: true, ...said };
      await this.call('request.answer', answer).catch((error: unknown) => this.checks.error(error, { by: 'answer' }));
    }
    const failed = [...this.checks.state.tasks.values()].filter(({ status }) => status === 'failed');
    for (const { id } of failed) {
      await this.call('task.reopen', { teamId: TEAM, taskId: id }).catch((error: unknown) =>
        this.checks.error(error, { by: 'reopen' }),
      );
    }
    // A member that crashed too often waits for a person.
    for (const { id, status, returning, agent } of this.checks.state.members.values()) {
      if (status !== 'stopped' || returning || !agent) continue;
      await this.call('member.restart', { teamId: TEAM, memberId: id }).catch((error: unknown) =>
        this.checks.error(error, { by: 'restart' }),
      );
    }
  }

  /** A person stops and restarts members, gives tasks to them, and writes to all. */
  async intervene(): Promise<void> {
    const random = scheduler.random('person');
    const memberId = `w${1 + random.below(this.cast.members)}`;
    const open = [...this.checks.state.tasks.values()].filter(({ status }) => status === 'pending');
    const task = open.length > 0 ? random.pick(open) : undefined;
    const ways: (() => Promise<unknown>)[] = [
      () => this.call('member.restart', { teamId: TEAM, memberId }),
      () => this.call('member.stop', { teamId: TEAM, memberId }),
      () => Promise.all([this.#change('member.stop', memberId), this.#change('member.restart', memberId)]),
      () => this.call('message.send', { teamId: TEAM, toId: memberId, content: 'Quick', priority: 'urgent' }),
      () => this.call('message.broadcast', { teamId: TEAM, content: 'To all' }),
      // The lead of a joined team is the native one.
      async () => !this.native && this.call('team.update', { teamId: TEAM, leadId: memberId }),
      async () => task && this.call('task.assign', { teamId: TEAM, taskId: task.id, assigneeId: memberId }),
    ];
    await random.pick(ways)();
  }

  /** What a person does to a member; it may be too late for it. */
  #change(name: 'member.stop' | 'member.restart', memberId: string): Promise<unknown> {
    return this.call(name, { teamId: TEAM, memberId }).catch((error: unknown) =>
      this.checks.error(error, { by: name }),
    );
  }

  /** A person takes the gate away, and puts it back later. */
  async removeGate(ms: number): Promise<void> {
    await this.call('hook.remove', { teamId: TEAM, type: GATE.type });
    await later(ms);
    await this.#execute({ type: 'hook.register', by: USER, hook: GATE });
  }

  async sendMessage(): Promise<void> {
    const random = scheduler.random('person');
    const toId = random.chance(0.3) ? OUTSIDER : `w${1 + random.below(this.cast.members)}`;
    await this.call('message.send', { teamId: TEAM, toId, content: `Note ${random.below(1_000)}` });
  }

  /** Removes what it left on the real disk. */
  remove(): void {
    sqlite.reset();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function isOthersBad(line: string, taskId: string): boolean {
  return line.startsWith('bad ') && line !== `bad ${taskId}`;
}

function mapText(files: Files, edit: (text: string) => string[]): Files {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, edit(text).join('\n')]));
}
