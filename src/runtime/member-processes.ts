import { endMarked, isRunning, LOOK_EVERY_MS, signalGroup, startProcess, stopProcess } from '../agents/process.ts';
import type { ProcessIdentity, ProcessOptions } from '../agents/process.ts';
import type { MemberProcess, ProcessRecord, ProcessRecords } from './process-records.ts';

/** How to start the process that runs a member. */
export type LaunchMember = (member: {
  teamId: string;
  memberId: string;
  processId: string;
}) => Promise<Omit<ProcessOptions, 'marker'>>;

/** What the processes of members need. */
export interface MemberProcessesOptions {
  readonly records: ProcessRecords;
  readonly launch: LaunchMember;
  readonly onStarted: (process: MemberProcess) => void;
  /** The process and all its descendants are gone. `asked` says whether we ended it. */
  readonly onEnded: (process: MemberProcess, end: { how: string; asked: boolean }) => Promise<void>;
}

interface Running {
  readonly record: MemberProcess;
  readonly exited: Promise<string>;
  /** The process and all its descendants are gone. */
  cleared: Promise<void>;
  /** We asked it to end. Any other end is a crash, also by a signal from outside. */
  asked: boolean;
  /** Why we killed it, if that counts as a crash. */
  why?: string;
}

/** The grace period before SIGKILL: a member's process ends its agent first. */
const STOP_GRACE_MS = 8_000;

/** How long a process may take to be gone after SIGKILL. */
const NOT_DEAD_MS = 2_000;

/**
 * The processes of members, at most one each. They are recorded before they start, recognized by a later daemon, and
 * ended to the last descendant. The supervisor decides which members have one.
 */
export class MemberProcesses {
  readonly #options: MemberProcessesOptions;
  readonly #running = new Map<string, Running>();
  readonly #looks = new Set<NodeJS.Timeout>();
  #letGo = false;

  constructor(options: MemberProcessesOptions) {
    this.#options = options;
  }

  /** The members' processes now. */
  list(teamId?: string): MemberProcess[] {
    return [...this.#running.values()]
      .map(({ record }) => record)
      .filter((record) => teamId === undefined || record.teamId === teamId);
  }

  has(teamId: string, memberId: string): boolean {
    return this.#running.has(keyOf(teamId, memberId));
  }

  /** Starts a process. If that fails, rejects and leaves nothing behind. */
  async start(teamId: string, memberId: string, part: Pick<MemberProcess, 'leadTerm' | 'leads'>): Promise<void> {
    const { records, launch } = this.#options;
    const id = records.newId('member');
    const startedAt = new Date().toISOString();
    const record: MemberProcess = { id, teamId, memberId, startedAt, ...part };
    records.write(record);
    try {
      const options = await launch({ teamId, memberId, processId: id });
      const { identity, exited } = await startProcess({ ...options, marker: id });
      const how = exited.then(({ code, signal }) => (signal ? `ended by ${signal}` : `exit code ${code}`));
      this.#keep({ ...record, identity }, how);
    } catch (error) {
      records.remove(id);
      throw error;
    }
  }

  /** Takes over a process of an earlier daemon if it lives; returns whether it does. */
  adopt(record: MemberProcess): boolean {
    const { identity } = record;
    if (!identity || !isRunning(identity)) return false;
    this.#keep(record, this.#untilGone(identity));
    return true;
  }

  /** Ends an unwanted process of an earlier daemon, to the last descendant; returns its last words. */
  async clear({ id, identity }: ProcessRecord): Promise<string> {
    if (identity && isRunning(identity)) {
      await stopProcess(identity, id, this.#untilGone(identity), STOP_GRACE_MS);
    }
    await endMarked(id);
    const said = this.#options.records.lastWords(id);
    this.#options.records.remove(id);
    return said;
  }

  /** Ends a member's process and returns what that took; undefined if it has none. */
  async stop(teamId: string, memberId: string): Promise<string | undefined> {
    const running = this.#running.get(keyOf(teamId, memberId));
    if (!running?.record.identity) return undefined;
    running.asked = true;
    const { id, identity } = running.record;
    const how = await stopProcess(identity, id, running.exited, STOP_GRACE_MS);
    // A process that hangs in the kernel survives SIGKILL. The caller is told so, and the record stays.
    const late = new Promise<string>((resolve) => {
      setTimeout(() => resolve(`process ${identity.pid} does not end`), NOT_DEAD_MS).unref();
    });
    return Promise.race([running.cleared.then(() => how), late]);
  }

  /** Kills a member's process. That counts as a crash, for this reason. */
  async fail(teamId: string, memberId: string, why: string): Promise<void> {
    const running = this.#running.get(keyOf(teamId, memberId));
    if (!running?.record.identity || running.asked) return;
    running.why = why;
    signalGroup(running.record.identity, 'SIGKILL');
    await running.cleared;
  }

  /** From now on no end is reported that we did not ask for: a later daemon finds out. */
  letGo(): void {
    this.#letGo = true;
  }

  /** Stops watching them. */
  close(): void {
    for (const look of this.#looks) clearInterval(look);
  }

  #keep(record: MemberProcess, exited: Promise<string>): void {
    const { records, onStarted } = this.#options;
    const running: Running = { record, exited, cleared: Promise.resolve(), asked: false };
    records.write(record);
    this.#running.set(keyOf(record.teamId, record.memberId), running);
    onStarted(record);
    running.cleared = exited.then((how) => (this.#letGo && !running.asked ? undefined : this.#gone(running, how)));
  }

  async #gone(running: Running, how: string): Promise<void> {
    const { records, onEnded } = this.#options;
    const { record, asked } = running;
    await endMarked(record.id);
    const said = records.lastWords(record.id);
    records.remove(record.id);
    const key = keyOf(record.teamId, record.memberId);
    if (this.#running.get(key) === running) this.#running.delete(key);
    if (running.why !== undefined) return onEnded(record, { how: running.why, asked });
    await onEnded(record, { how: said ? `${how}: ${said}` : how, asked });
  }

  /** Polls a process of an earlier daemon: we cannot wait for a process that is not our child. */
  #untilGone(identity: ProcessIdentity): Promise<string> {
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        if (isRunning(identity)) return;
        clearInterval(timer);
        this.#looks.delete(timer);
        resolve('gone');
      }, LOOK_EVERY_MS);
      this.#looks.add(timer);
    });
  }
}

function keyOf(teamId: string, memberId: string): string {
  return `${teamId}/${memberId}`;
}
