import { newOwner, scheduler } from '../scheduler.ts';
import type { Owner } from '../scheduler.ts';
import type { NativeChecks } from './checks.ts';
import type { Acts, ClaudeFiles, Entry, Json, Task, Version } from './claude-files.ts';

/** What a native process may ask about the run. */
export interface Outside {
  readonly isFaulty: boolean;
  /** The members that Troupe runs. */
  readonly ours: readonly string[];
  readonly mates: readonly string[];
  /** Another number each time. */
  count(): number;
  readonly log: (text: string) => void;
}

/** The most tasks that the native lead makes. */
const MADE_MOST = 6;

/** One native process: a lead or a teammate. It ends only when it is killed. */
export class Claude {
  readonly name: string;
  owner: Owner;
  readonly #files: ClaudeFiles;
  readonly #checks: NativeChecks;
  readonly #outside: Outside;
  readonly #machine: string;
  #acts: Acts;
  #step: { isOff: boolean } | undefined;
  /** It waits for nothing but its turn. */
  isBusy = false;
  /** After how many more system calls it dies. */
  diesAfter = Infinity;
  /** It takes a task or gives one away as soon as it can. */
  isEager = false;

  constructor(name: string, machine: string, files: ClaudeFiles, checks: NativeChecks, outside: Outside) {
    this.name = name;
    this.#machine = machine;
    this.#files = files;
    this.#checks = checks;
    this.#outside = outside;
    this.owner = newOwner(`claude ${name}`, machine);
    this.owner.isAlive = false;
    this.#acts = this.#live();
  }

  start(): void {
    if (this.owner.isAlive) return;
    this.owner = newOwner(`claude ${this.name}`, this.#machine);
    this.#acts = this.#live();
    this.diesAfter = Infinity;
    this.isEager = false;
    this.#wait(10);
  }

  kill(): void {
    this.owner.isAlive = false;
    this.isBusy = false;
    this.#outside.log(`${this.name} (native) is killed`);
  }

  #wait(ms: number): void {
    this.#step = scheduler.plan(ms, () => this.#go(), this.owner);
  }

  /** Does its next system call now, though its turn would come later: another process is interrupted for it. */
  hurry(): void {
    if (!this.owner.isAlive || this.owner.isPaused) return;
    if (this.#step) this.#step.isOff = true;
    scheduler.as(this.owner, () => this.#go());
  }

  #go(): void {
    if (--this.diesAfter <= 0) return this.kill();
    const { value, done } = this.#acts.next();
    if (done) return;
    const random = scheduler.random(`claude ${this.name}`);
    this.isBusy = value === undefined;
    // A busy machine keeps a process waiting, sometimes for long, also in the middle of a file.
    const isHeldUp = this.#outside.isFaulty && random.chance(0.01);
    this.#wait(value ?? (isHeldUp ? random.between(5, 1_500) : random.between(0.02, 0.3)));
  }

  *#live(): Acts {
    const random = scheduler.random(`claude ${this.name}`);
    const isLead = this.name === 'team-lead';
    if (isLead && this.#files.version === '2.1.325') yield* this.#claimLead();
    for (;;) {
      // The program looks once or twice a second. While nothing goes wrong, less often does as well.
      yield this.#outside.isFaulty ? random.between(300, 1_000) : random.between(1_000, 4_000);
      if (!this.isEager) yield* this.#readMail();
      if (isLead) yield* this.#lead();
      else yield* this.#work();
      this.isEager = false;
      if (this.#outside.isFaulty && random.chance(0.06)) yield* this.#sendMail();
    }
  }

  *#claimLead(): Acts {
    const claim = (config: Json): Json => ({ ...config, leadProcess: { pid: this.owner.pid } });
    // A daemon that was killed may have left its lock.
    while (!(yield* this.#files.changeConfig(claim))) yield 1_000;
  }

  *#readMail(): Acts {
    const before = (yield* this.#files.read(this.#files.paths.inbox(this.name))) as Entry[] | undefined;
    if (!before?.some(({ read }) => read !== true)) return;
    let taken: Entry[] = [];
    const edit = (entries: Entry[]): Entry[] => {
      taken = entries.filter(({ read }) => read !== true);
      if (this.#files.version === '2.1.325') return [];
      return entries.map((entry) => ({ ...entry, read: true }));
    };
    yield* this.#files.changeInbox(this.name, edit, () => this.#checks.taken(this.name, taken));
  }

  *#sendMail(): Acts {
    const random = scheduler.random(`claude ${this.name}`);
    const others = [...this.#outside.ours, ...this.#outside.mates].filter((one) => one !== this.name);
    const to = random.pick(others);
    yield* this.#send(to, `From ${this.name}: ${this.#outside.count()}`);
  }

  *#send(to: string, text: string): Acts {
    const isNew = this.#files.version === '2.1.325';
    const entry: Entry = {
      from: this.name,
      text,
      timestamp: new Date().toISOString(),
      ...(isNew && { msgV: 1, msg_id: crypto.randomUUID(), type: 'message' }),
      read: false,
    };
    const add = (entries: Entry[]): Entry[] => [...entries, entry];
    yield* this.#files.changeInbox(to, add, () => this.#checks.wrote(to, entry));
  }

  /** A teammate takes the first free task and does it, as the program does when it is idle. */
  *#work(): Acts {
    const random = scheduler.random(`claude ${this.name}`);
    const tasks = yield* this.#files.listTasks();
    const mine = tasks.find(({ owner, status }) => owner === this.name && status !== 'completed');
    if (mine) {
      if (mine.status === 'in_progress') yield random.between(500, 9_000);
      yield* this.#changeMine(mine.id, mine.status === 'in_progress' ? 'completed' : 'in_progress');
      if (mine.status === 'in_progress') yield* this.#tellIdle();
      return;
    }
    if (!this.isEager && random.chance(0.7)) return;
    const free = firstFree(tasks);
    if (!free) return;
    const isMine = yield* this.#files.changeTask(free.id, (task) =>
      isFree(task) && this.#isReady(task) ? { ...task, owner: this.name } : undefined,
    );
    this.isEager = false;
    if (isMine) yield* this.#changeMine(free.id, 'in_progress');
  }

  #isReady({ blockedBy = [] }: Task): boolean {
    return blockedBy.every((id) => {
      const blocker = this.#files.parse(this.#files.paths.task(id)) as Task | undefined;
      return !blocker || blocker.status === 'completed';
    });
  }

  *#changeMine(id: string, status: string): Acts {
    const edit = (task: Task): Task | undefined =>
      task.owner === this.name && task.status !== 'completed' ? { ...task, status } : undefined;
    yield* this.#files.changeTask(id, edit, () => {
      this.#outside.log(`${this.name} (native) sets task ${id} to ${status}`);
      if (status === 'in_progress') this.#checks.began(id, this.name);
      else this.#checks.completed(id, this.name);
    });
  }

  *#tellIdle(): Acts {
    const idle = { type: 'idle_notification', from: this.name, idleReason: 'available' };
    yield* this.#send('team-lead', JSON.stringify(idle));
  }

  /** The lead makes tasks and gives some of them away. */
  *#lead(): Acts {
    const random = scheduler.random('claude team-lead');
    if (!this.isEager && (!this.#outside.isFaulty || !random.chance(0.08))) return;
    const tasks = yield* this.#files.listTasks();
    const free = firstFree(tasks);
    if ((this.isEager || random.chance(0.5)) && free) {
      const owner = random.pick([...this.#outside.ours, ...this.#outside.mates].filter((one) => one !== this.name));
      const isDone = yield* this.#files.changeTask(free.id, (task) => (isFree(task) ? { ...task, owner } : undefined));
      const text = { type: 'task_assignment', taskId: free.id, subject: free.subject, assignedBy: this.name };
      if (isDone) yield* this.#send(owner, JSON.stringify(text));
    } else if (tasks.filter(({ subject }) => subject.startsWith('Native')).length < MADE_MOST) {
      const last = tasks.at(-1);
      const id = yield* this.#files.createTask(
        `Native ${this.#outside.count()}`,
        last && random.chance(0.3) ? [last.id] : [],
      );
      if (id !== undefined) this.#checks.created(id);
    }
  }
}

function firstFree(tasks: readonly Task[]): Task | undefined {
  const open = new Set(tasks.flatMap(({ id, status }) => (status === 'completed' ? [] : id)));
  return tasks.find((task) => isFree(task) && !task.blockedBy?.some((id) => open.has(id)));
}

function isFree({ status, owner }: Task): boolean {
  return status === 'pending' && (owner === undefined || owner === '');
}

/** The first config.json of a team. */
export function firstConfig(team: string, mates: readonly string[], version: Version): Json {
  const member = (name: string, agentType: string): Json => ({
    agentId: `${name}@${team}`,
    name,
    agentType,
    joinedAt: scheduler.wall(),
    tmuxPaneId: 'in-process',
    cwd: '/project',
    subscriptions: [],
    backendType: 'in-process',
  });
  return {
    name: team,
    createdAt: scheduler.wall(),
    leadAgentId: `team-lead@${team}`,
    leadSessionId: 'session',
    ...(version === '2.1.325' && { leadProcess: { pid: 1 } }),
    members: [member('team-lead', 'team-lead'), ...mates.map((name) => member(name, 'general-purpose'))],
  };
}
