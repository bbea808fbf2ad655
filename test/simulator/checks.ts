import { createHash } from 'node:crypto';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { isHandedIn } from '../../src/core/approval.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { createState } from '../../src/core/state.ts';
import type { TaskRecord, TeamState } from '../../src/core/state.ts';
import type { Stored } from '../../src/journal/journal.ts';
import { scheduler } from './scheduler.ts';

/** A promise that was broken. */
export class Violation extends Error {
  readonly at: number;
  readonly step: number;

  constructor(message: string) {
    super(message);
    this.at = scheduler.now;
    this.step = scheduler.steps;
  }
}

export interface ChecksOptions {
  /** Several machines share one store. */
  readonly isShared: boolean;
  /** Whether gates accepted what a commit has. */
  readonly isPassed: (merged: string) => boolean;
  readonly log: (text: string) => void;
}

/** What callers and parts of a daemon may meet while something is wrong; everything else is a bug. */
const EXPECTED: ReadonlySet<string> = new Set([
  'storage',
  'overloaded',
  'exists',
  'not_found',
  'conflict',
  'claim_conflict',
  'stale_epoch',
  'stale_revision',
  'member_stopped',
  'team_closed',
  'gate_rejected',
  'no_daemon',
  // Native files that somebody left half written, and a disk that fails.
  'corrupt',
  'EIO',
  'ENOSPC',
]);

/** How often gates may be asked about one work within a time, in milliseconds. */
const JUDGED_MOST = 10;
const JUDGED_MS = 5_000;

/** How long a landing that found no gate may take. */
const UNGATED_MS = 120_000;

/**
 * Looks at every batch when it is stored, and at everything that a caller is told. It keeps its own state, from the
 * events alone.
 */
export class Checks {
  readonly state: TeamState;
  /** The first broken promise; the run ends with it. */
  violation: Violation | undefined;
  readonly #isShared: boolean;
  readonly #isPassed: (merged: string) => boolean;
  readonly #log: (text: string) => void;
  readonly #hash = createHash('sha256');
  readonly #epochs = new Map<string, number>();
  readonly #holders = new Map<string, string>();
  readonly #landed = new Map<string, string>();
  /** Tasks that were completed, also if a person opened them again since. */
  readonly #ended = new Set<string>();
  readonly #messages = new Set<string>();
  /** Tips that a person wanted, whatever the gates say. */
  readonly #accepted = new Set<string>();
  /** On which machine the process of a member made each call, by the id of the command. */
  readonly #callers = new Map<string, string>();
  /** Who added each member last. */
  readonly #joinedBy = new Map<string, string>();
  /** Tasks as gates accepted them, and those that each batch completes as they were before it. */
  readonly #passed = new Set<string>();
  readonly #before = new Map<string, string>();
  /** When the team had no gate last. */
  #ungatedAt = -Infinity;
  #wasGated = false;
  /** The sessions that each message was delivered to, the last one at the end. */
  readonly #sessions = new Map<string, string[]>();
  /** When the gates were asked about each work. */
  readonly #judged = new Map<string, number[]>();
  /** How often each message was shown without a mark, by message, member and session. */
  readonly #shown = new Map<string, number>();
  /** Called when a member was told that it holds a task. */
  onClaim: (taskId: string, memberId: string) => void = () => {};
  readonly counts = { batches: 0, events: 0, landed: 0, shown: 0, turns: 0, refused: 0, errors: 0 };

  constructor(teamId: string, { isShared, isPassed, log }: ChecksOptions) {
    this.state = createState(teamId);
    this.#isShared = isShared;
    this.#isPassed = isPassed;
    this.#log = log;
  }

  /** The same for two runs that stored the same, byte for byte. */
  fingerprint(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  fail(message: string): void {
    this.violation ??= new Violation(message);
  }

  require(holds: boolean, message: string): void {
    if (!holds) this.fail(message);
  }

  error(error: unknown, about: { readonly hostId?: string; readonly memberId?: string; readonly by?: string }): void {
    this.counts.errors++;
    const { name, message } = error as Error;
    const { hostId, memberId, by } = about;
    this.#log(`error ${JSON.stringify({ hostId, memberId, by })} ${name}: ${message}`);
    const code = (error as { code?: string }).code ?? '';
    // A person may bring a member back before its daemon does, and so may the daemon of another machine.
    const isOwn =
      !this.#isShared && hostId !== undefined && memberId !== undefined && this.#joinedBy.get(memberId) === SYSTEM;
    if (code === 'exists' && isOwn) this.fail(`${hostId} brought ${memberId} back twice: ${message}`);
    if (EXPECTED.has(code)) return;
    if (name === 'AbortError') return;
    this.fail(`Unexpected error ${JSON.stringify(about)}: ${(error as Error).stack ?? String(error)}`);
  }

  stored(batch: Stored): void {
    this.counts.batches++;
    this.#hash.update(JSON.stringify(batch));
    this.require(batch.seq === this.counts.batches, `Batch ${batch.seq} follows batch ${this.counts.batches - 1}`);
    this.#before.clear();
    for (const event of batch.events) {
      if (event.type === 'task:completed') this.#before.set(event.taskId, this.judging(event.taskId));
    }
    for (const event of batch.events) this.#event(event);
    this.#checkHolders(batch.events);
  }

  /** Who has stopped holds nothing, except what it handed in and what a person decides about. */
  #checkHolders(events: readonly TeamEvent[]): void {
    for (const event of events) {
      if (event.type !== 'teammate:stopped') continue;
      const { memberId } = event;
      const { members, tasks, requests } = this.state;
      if (members.get(memberId)?.status !== 'stopped') continue;
      const decided = new Set(
        [...requests.values()].flatMap(({ status, taskId }) => (status === 'pending' ? taskId : [])),
      );
      for (const { id, status, assigneeId, work } of tasks.values()) {
        if (status !== 'in_progress' || assigneeId !== memberId || decided.has(id)) continue;
        this.require(isHandedIn(work), `${memberId} has stopped, and holds task ${id}`);
      }
    }
  }

  /** A task as a gate judges it now. */
  judging(taskId: string): string {
    const { epoch, revision } = this.state.tasks.get(taskId) ?? {};
    return `${taskId}@${epoch}#${revision}`;
  }

  /** A gate accepted a task as it was when the gate began. */
  passed(judged: string): void {
    this.#passed.add(judged);
  }

  /** A verdict counts only for the task that it is about: it did not change hands meanwhile, nor anything else of it. */
  #checkJudged(taskId: string, by: string): void {
    const { work } = this.state.tasks.get(taskId) ?? {};
    // What landed is judged as a commit.
    if (work?.state === 'landed' || this.state.members.get(by)?.agent === undefined || this.#isUngated) return;
    const judged = this.#before.get(taskId) ?? '';
    this.require(this.#passed.has(judged), `${by} completed ${judged}, which no gate accepted`);
  }

  /** The team has no gate, or had none when it was last asked. */
  get #isUngated(): boolean {
    const { team } = this.state;
    const isGated = team?.hooks.some(({ enabled }) => enabled) === true;
    this.#wasGated ||= isGated;
    if (this.#wasGated && !isGated) this.#ungatedAt = scheduler.now;
    return scheduler.now - this.#ungatedAt < UNGATED_MS;
  }

  #event(event: TeamEvent): void {
    this.counts.events++;
    const { tasks } = this.state;
    const taskId = 'taskId' in event && typeof event.taskId === 'string' ? event.taskId : undefined;
    const before = taskId === undefined ? undefined : copyOf(tasks.get(taskId));
    const tip = this.state.team?.work?.tip;
    const wasDone = (id: string): boolean => tasks.get(id)?.status === 'completed';
    if (event.type === 'task:claimed') {
      this.require(before?.status === 'pending', `Task ${taskId} was claimed while ${before?.status}`);
      this.require(
        [...(before?.dependencies ?? [])].every(wasDone),
        `Task ${taskId} was claimed before its dependencies`,
      );
      this.require(
        event.epoch > (this.#epochs.get(event.taskId) ?? 0),
        `The claim of ${taskId} repeats epoch ${event.epoch}`,
      );
      const key = `${taskId}@${event.epoch}`;
      this.require(!this.#holders.has(key), `Task ${taskId} has two holders at epoch ${event.epoch}`);
      this.#holders.set(key, event.memberId);
    }
    if (taskId !== undefined && 'epoch' in event && typeof event.epoch === 'number') {
      this.require(event.epoch >= (this.#epochs.get(taskId) ?? 0), `${event.type} of ${taskId} has an old epoch`);
      this.#epochs.set(taskId, event.epoch);
    }
    if (before?.status === 'completed' && event.type === 'task:completed') {
      this.fail(`Task ${taskId} was completed twice`);
    }
    const { by, cause = '' } = event;
    const machine = this.#callers.get(cause);
    if (machine !== undefined && event.type !== 'usage:recorded') {
      const { hostId } = this.state.members.get(by) ?? {};
      this.require(hostId === machine, `${event.type} by ${by} on ${machine}, and it runs on ${hostId}`);
    }
    if (event.type === 'teammate:joined') this.#joinedBy.set(event.memberId, by);
    if (event.type === 'message:delivered') {
      for (const id of event.messageIds) this.#checkSession(id, event.sessionId);
    }
    if (event.type === 'message:sent') {
      for (const { id } of event.copies) {
        this.require(!this.#messages.has(id), `Message ${id} was stored twice`);
        this.#messages.add(id);
      }
    }
    void this.#isUngated;
    evolve(this.state, event);
    if (taskId !== undefined && this.state.tasks.get(taskId)?.dependencies !== before?.dependencies) {
      this.require(!this.#isCircular(taskId, taskId), `Task ${taskId} waits for itself`);
    }
    if (event.type === 'work:landed') {
      this.#checkLanding(event.taskId, tip);
      if (event.by === USER || this.#isUngated) this.#accepted.add(event.merged);
    }
    if (event.type === 'task:completed') {
      this.#ended.add(event.taskId);
      // A person may accept a task and leave its conflict beside the branch.
      if (by !== USER) this.#checkCompleted(event.taskId);
      this.#checkJudged(event.taskId, by);
    }
  }

  /** Whether a task waits for another one, by any way. */
  #isCircular(from: string, to: string, seen = new Set<string>()): boolean {
    return (this.state.tasks.get(from)?.dependencies ?? []).some((id) => {
      if (id === to) return true;
      if (seen.has(id)) return false;
      return this.#isCircular(id, to, seen.add(id));
    });
  }

  /** A message that went on to another session does not come back: two sessions would show it in turn. */
  #checkSession(messageId: string, sessionId: string): void {
    const before = this.#sessions.get(messageId) ?? [];
    if (before.at(-1) === sessionId) return;
    this.require(!before.includes(sessionId), `Message ${messageId} went back to session ${sessionId}`);
    this.#sessions.set(messageId, [...before, sessionId]);
  }

  /** The gates are asked about a work. A daemon that asks again and again has lost itself in a loop. */
  judged(work: string): void {
    const times = [...(this.#judged.get(work) ?? []), scheduler.now].filter((at) => scheduler.now - at < JUDGED_MS);
    this.#judged.set(work, times);
    this.require(times.length <= JUDGED_MOST, `The gates were asked ${times.length} times about ${work}`);
  }

  /** The process of a member calls its daemon. */
  called(commandId: string, machine: string): void {
    this.#callers.set(commandId, machine);
  }

  #checkLanding(taskId: string, tip: string | undefined): void {
    this.counts.landed++;
    const { work } = this.state.tasks.get(taskId) ?? {};
    const name = `${taskId}@${work?.epoch}`;
    this.require(!this.#landed.has(name), `The work of ${name} landed twice`);
    this.#landed.set(name, work?.merged ?? '');
    this.require(work?.onto === tip, `The work of ${taskId} landed on ${work?.onto}, and the tip was ${tip}`);
  }

  /** Work that has changes is on the branch when its task is completed. */
  #checkCompleted(taskId: string): void {
    const { work } = this.state.tasks.get(taskId) ?? {};
    if (!work) return;
    const isIn = ['landed', 'unchanged'].includes(work.state);
    this.require(isIn, `Task ${taskId} is completed, and its work is ${work.state}`);
  }

  /** Every tip was accepted by the gates, as it is, or by a person. */
  checkTip(): void {
    const { tip, base } = this.state.team?.work ?? {};
    if (tip === undefined || tip === base || this.#accepted.has(tip)) return;
    this.require(this.#isPassed(tip), `No gate accepted the tip ${tip}`);
  }

  /** A caller was told that something is done: then it is stored. */
  acknowledged(who: { memberId: string }, name: string, input: unknown, value: unknown): void {
    const { taskId } = (input ?? {}) as { taskId?: string };
    const result = value as { status?: string; epoch?: number; id?: string } | null;
    if (name === 'task.complete' && result?.status === 'completed') {
      this.require(this.#ended.has(taskId ?? ''), `${who.memberId} was told that ${taskId} is completed`);
    }
    if (name === 'task.claim' && result) {
      const holder = this.#holders.get(`${result.id}@${result.epoch}`);
      this.require(holder === who.memberId, `${who.memberId} was told that it holds ${result.id}, and ${holder} does`);
      this.onClaim(result.id ?? '', who.memberId);
    }
    if (name === 'message.send' && result?.id !== undefined) {
      this.require(this.#messages.has(result.id), `${who.memberId} was told that ${result.id} was sent`);
    }
  }

  /** A caller was told that something was not done. */
  refused(who: { memberId: string }, name: string, error: unknown): void {
    const { code, message } = error as { code?: string; message: string };
    const isStale = name === 'task.claim' && code === 'stale_epoch';
    this.require(!isStale, `A claim by ${who.memberId}, which named no epoch, was refused for its epoch: ${message}`);
  }

  asked(isRefused: boolean): void {
    this.counts.turns++;
    if (isRefused) this.counts.refused++;
  }

  /** An agent has these messages in its conversation. */
  shown(memberId: string, sessionId: string, messages: readonly { id: string; redeliveries?: number }[]): void {
    for (const { id, redeliveries = 0 } of messages) {
      this.counts.shown++;
      const key = `${id} to ${memberId} in ${sessionId}`;
      const times = (this.#shown.get(key) ?? 0) + (redeliveries > 0 ? 0 : 1);
      this.#shown.set(key, times);
      this.require(times <= 1, `Message ${id} was shown to ${memberId} ${times} times without a mark`);
    }
  }
}

function copyOf(task: TaskRecord | undefined): TaskRecord | undefined {
  return task && { ...task };
}
