import { existsSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { openBridge } from '../../src/bridge/bridge.ts';
import { homeAt } from '../../src/client/home.ts';
import type { TeamError } from '../../src/core/errors.ts';
import type { Hosts } from '../../src/journal/hosts.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { DaemonService, Services } from '../../src/operations/operation.ts';
import { openApprovals } from '../../src/runtime/hooks/approvals.ts';
import { openMembership } from '../../src/runtime/hosts/join.ts';
import { fencedJournal } from '../../src/runtime/hosts/lease.ts';
import { bringHome } from '../../src/runtime/hosts/lost.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { openTeams } from '../../src/runtime/teams.ts';
import type { Around } from './around.ts';
import type { Checks } from './checks.ts';
import type { Daemon } from './daemon.ts';
import { folderToJudge, WatchedHooks } from './gates.ts';
import { ROOT } from './native/team.ts';
import { NATS_URL } from './nats/world.ts';
import { table } from './processes.ts';
import { newOwner, scheduler } from './scheduler.ts';
import type { Owner } from './scheduler.ts';
import { Killed } from './stand-ins/files.ts';
import { nats } from './stand-ins/nats.ts';
import { sqlite, watched } from './stand-ins/sqlite.ts';
import { withoutTraces } from './traces.ts';
import { simulatedWorks } from './works.ts';
import type { Folder } from './workspaces.ts';

/** A machine: its disk outlives its daemon, and its processes too. */
export class Machine {
  readonly name: string;
  readonly directory: string;
  readonly folders = new Map<string, Folder>();
  readonly #world: Around;
  /** The process of its daemon, also while it starts. */
  #owner: Owner | undefined;
  /** What the real one writes beside its socket. */
  leaseMs: number | undefined;
  daemon: Daemon | undefined;
  /** Since when it has no daemon; undefined while it has one. */
  goneSince: number | undefined;

  constructor(world: Around, name: string, directory: string) {
    this.#world = world;
    this.name = name;
    this.directory = directory;
  }

  /** Starts its daemon, in the order of `daemon.ts`. A daemon that cannot start ends, and is started again later. */
  start(): void {
    // The state directory has a lock.
    if (!this.isDown) return;
    const owner = newOwner(`daemon of ${this.name}`, this.name);
    this.#owner = owner;
    this.#world.checks.restarts.renewed();
    scheduler.plan(1, () => void this.#run(owner).catch((error: unknown) => this.#failed(owner, error)), owner);
  }

  #failed(owner: Owner, error: unknown): void {
    // Whoever killed it starts it again.
    if (error instanceof Killed || !owner.isAlive) return;
    this.#world.checks.error(error, { hostId: this.name });
    this.kill(owner);
    this.#world.later(1_000, () => this.start());
  }

  async #run(owner: Owner): Promise<void> {
    const world = this.#world;
    const { name: hostId, directory } = this;
    const home = homeAt(directory);
    mkdirSync(home.processes, { recursive: true });
    const onError = (error: unknown, about: object = {}): void => {
      if (owner.isAlive) world.checks.error(error, { hostId, ...about });
    };
    const { journal: opened, hosts } = await this.#openJournal();
    const bare = withoutTraces(opened, world.checks, () => ledger);
    const membership = hosts && openMembership(hosts);
    const journal = membership ? fencedJournal(bare, () => membership.keeper?.lease) : bare;
    const ledger = new Ledger(journal, { exclusive: !membership, onError: (error) => onError(error) });
    const records = openProcessRecords(home.processes, () => {});
    const environment = {};
    const hooks = new WatchedHooks(world.gates, ledger, {
      approvals: openApprovals(home.approvals),
      records,
      environmentOf: () => environment,
      cwd: directory,
      folders: home.folders,
      works: {
        folderOf: (_state, memberId) => folderToJudge(directory, { memberId }),
        slotOf: () => 1,
      },
    });
    const works = simulatedWorks({
      ledger,
      hostId,
      repository: world.repository,
      saves: world.saves,
      folders: this.folders,
      checkOut: (commit) => folderToJudge(directory, { commit }),
      others: hosts && {
        names: () => (membership?.keeper?.list() ?? []).map(({ name }) => name).filter((name) => name !== hostId),
        ask: (...asked) => hosts.ask(...asked),
      },
      isAway: () => world.isGitAway(hostId),
      onError,
    });
    const native = world.isNative
      ? openBridge({ ledger, home: `/home/${hostId}`, root: ROOT, trash: '/home/trash', starts: true, onError })
      : undefined;
    const teams = openTeams({
      gates: { hooks, records },
      ...(native && { claims: native.claims }),
      ledger,
      home,
      hostId,
      works,
      ...(membership && { turnFor: (state, memberId) => membership.keeper?.turnFor(state, memberId) }),
      environment,
      teammateCommand: ['troupe'],
      memberToken: async () => 'token',
      onError,
    });
    const daemonService = { hostId, transcriptFolder: () => directory } as unknown as DaemonService;
    const services: Services = {
      ...teams,
      ledger,
      works,
      daemon: daemonService,
      native: native ?? ({} as Services['native']),
    };
    const daemon: Daemon = { owner, services, isOpen: false, isStarted: false, onGone: new Set() };
    this.daemon = daemon;
    const keeper = await membership?.join({
      self: {
        name: hostId,
        labels: [],
        agents: ['exec'],
        home: directory,
        instance: crypto.randomUUID(),
        version: '1',
      },
      ledger,
      teams,
      onQuestion: async (question) => works.answer(question),
      onLease: (leaseMs) => (this.leaseMs = leaseMs),
      onOusted: (why) => {
        onError(why);
        void teams.supervisor.close({ end: true, disowned: true });
      },
      onError,
    });
    // Members that run reconnect while it still starts.
    daemon.isOpen = true;
    this.goneSince = undefined;
    await teams.start();
    await works.start();
    await teams.land();
    if (!membership) await bringHome({ ledger, mailbox: teams.mailbox }, { self: hostId, onError });
    await native?.start();
    await keeper?.start();
    daemon.isStarted = true;
  }

  /** Its journal, and the daemons that share it. */
  async #openJournal(): Promise<{ journal: Journal; hosts?: Hosts }> {
    const { name, directory } = this;
    const world = this.#world;
    if (world.isOnNats) {
      const journal = await natsJournal(NATS_URL, { mark: join(directory, 'mark') });
      const { durability } = journal.facts;
      // Nobody says when these servers flush.
      world.checks.require(durability === 'replicated', `The journal on three servers is called ${durability}`);
      return { journal, hosts: journal.hosts };
    }
    if (world.isInFile) {
      const journal = openInFile(directory, world.checks);
      return { journal: watched(journal, world.onStored) };
    }
    const store = world.storeOf(name);
    return { journal: store.journal(), ...(world.isShared && { hosts: store.hosts() }) };
  }

  /** Ends a daemon without a word; its members' processes go on. */
  kill(owner = this.#owner): void {
    if (!owner) return;
    owner.isAlive = false;
    sqlite.forget(owner);
    nats.forget(owner);
    const { daemon } = this;
    if (daemon?.owner !== owner) return;
    this.daemon = undefined;
    this.goneSince = scheduler.now;
    this.#world.gates.forget(this.name);
    daemon.isOpen = false;
    for (const tell of daemon.onGone) tell();
  }

  /** Ends everything on it. */
  lose(): void {
    this.kill();
    this.#world.loseNatives();
    tearTails(join(this.directory, 'transcripts'));
    table.restart(this.name);
  }

  /** Whether something of it is to come back. */
  get isDown(): boolean {
    return !this.#owner?.isAlive;
  }
}

/** The journal in a file. Nothing that happens here damages it for good, and one process at a time has it. */
export function openInFile(directory: string, checks: Checks): Journal {
  try {
    const journal = sqliteJournal(join(directory, 'journal.sqlite'), { exclusive: true });
    if (journal.damage) throw journal.damage;
    const other = [...sqlite.open.keys()].find((owner) => owner !== scheduler.owner() && owner.isAlive);
    checks.require(!other, `The ${scheduler.owner().name} and the ${other?.name} both have the journal`);
    return journal;
  } catch (error) {
    const { code, message } = error as Partial<TeamError>;
    checks.require(code !== 'corrupt', `A journal that a machine wrote counts as damaged: ${message}`);
    throw error;
  }
}

/** What was written last to files that nobody flushes is lost, some of it in the middle of a line. */
function tearTails(folder: string): void {
  const random = scheduler.random('disk');
  if (!existsSync(folder)) return;
  for (const path of readdirSync(folder, { encoding: 'utf8', recursive: true }).toSorted()) {
    const file = join(folder, path);
    if (!path.endsWith('.jsonl') || random.chance(0.5)) continue;
    truncateSync(file, Math.max(0, statSync(file).size - random.below(600)));
  }
}
