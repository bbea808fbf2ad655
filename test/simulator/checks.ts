import { SYSTEM } from '../../src/core/actor.ts';
import { isHandedIn } from '../../src/core/approval.ts';
import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { createState, keepChanges } from '../../src/core/state.ts';
import type { TaskRecord, TeamState } from '../../src/core/state.ts';
import type { Stored } from '../../src/journal/journal.ts';
import { LandingChecks } from './landing-checks.ts';
import { MailChecks } from './mail-checks.ts';
import { RestartChecks } from './restart-checks.ts';
import { scheduler } from './scheduler.ts';
import { Killed } from './stand-ins/files.ts';

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

/** When every machine knows a new team, in milliseconds. */
const KNOWN_MS = 10_000;

/**
 * Looks at every batch when it is stored, and at everything that a caller is told. It keeps its own state, from the
 * events alone.
 */
export class Checks {
  readonly state: TeamState;
  /** The first broken promise; the run ends with it. */
  violation: Violation | undefined;
  readonly #isShared: boolean;
  readonly #log: (text: string) => void;
  readonly #epochs = new Map<string, number>();
  readonly #holders = new Map<string, string>();
  /** Tasks that were completed, also if a person opened them again since. */
  readonly #ended = new Set<string>();
  /** Which member made each call, and on which machine its process is, by the id of the command. */
  readonly #callers = new Map<string, { readonly memberId: string; readonly machine: string }>();
  /** Who added each member last. */
  readonly #joinedBy = new Map<string, string>();
  readonly landing: LandingChecks;
  readonly mail: MailChecks;
  readonly restarts: RestartChecks;
  /** When the team was made. */
  #madeAt = Infinity;
  /** Called when a member was told that it holds a task. */
  onClaim: (taskId: string, memberId: string) => void = () => {};
  readonly counts = { batches: 0, events: 0, landed: 0, shown: 0, turns: 0, refused: 0, errors: 0 };

  constructor(teamId: string, { isShared, isPassed, log }: ChecksOptions) {
    this.state = createState(teamId);
    this.#isShared = isShared;
    this.#log = log;
    const require = (holds: boolean, message: string): void => this.require(holds, message);
    this.landing = new LandingChecks({ state: this.state, isPassed, require });
    this.mail = new MailChecks(this.state, require);
    this.restarts = new RestartChecks(this.state, require);
  }

  fail(message: string): void {
    this.violation ??= new Violation(message);
  }

  require(holds: boolean, message: string): void {
    if (!holds) this.fail(message);
  }

  error(error: unknown, about: { readonly hostId?: string; readonly memberId?: string; readonly by?: string }): void {
    // What happens in a process that was killed meanwhile, nobody hears.
    if (error instanceof Killed) return;
    this.counts.errors++;
    const { name, message } = error as Error;
    const { hostId, memberId, by } = about;
    this.#log(`error ${JSON.stringify({ hostId, memberId, by })} ${name}: ${message}`);
    const code = (error as { code?: string }).code ?? '';
    // A person may bring a member back before its daemon does, and so may the daemon of another machine.
    const isOwn =
      !this.#isShared && hostId !== undefined && memberId !== undefined && this.#joinedBy.get(memberId) === SYSTEM;
    if (code === 'exists' && isOwn) this.fail(`${hostId} brought ${memberId} back twice: ${message}`);
    const isDenied = code === 'not_found' && message.startsWith('There is no team');
    this.require(!isDenied || scheduler.now - this.#madeAt < KNOWN_MS, `The team is there, and is denied: ${message}`);
    if (EXPECTED.has(code)) return;
    // Who sends too fast is told when to try again. So is a slow one whose clock was set back a little.
    if (error instanceof TeamError && code === 'limit' && error.retryMs !== undefined) return;
    if (name === 'AbortError') return;
    this.fail(`Unexpected error ${JSON.stringify(about)}: ${(error as Error).stack ?? String(error)}`);
  }

  stored(batch: Stored): void {
    this.counts.batches++;
    if (batch.seq === 1) this.#madeAt = scheduler.now;
    this.require(batch.seq === this.counts.batches, `Batch ${batch.seq} follows batch ${this.counts.batches - 1}`);
    this.landing.before(batch.events);
    for (const event of batch.events) this.#event(event);
    keepChanges(this.state);
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

  /** Whoever joins has a place: a member that stopped gives its own back. */
  #checkCount(joining: string): void {
    const { team, members } = this.state;
    const there = [...members.values()].filter(
      ({ id, status }) => id !== team?.leadId && id !== joining && status !== 'stopped',
    );
    const most = team?.maxTeammates ?? Infinity;
    this.require(
      joining === team?.leadId || there.length < most,
      `${joining} joined ${there.length} of ${most} members`,
    );
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
    const caller = this.#callers.get(cause);
    if (caller && event.type !== 'usage:recorded') {
      const { memberId, machine } = caller;
      this.require(by === memberId, `${event.type} by ${by}, and ${memberId} asked for it`);
      const { hostId } = this.state.members.get(by) ?? {};
      this.require(hostId === machine, `${event.type} by ${by} on ${machine}, and it runs on ${hostId}`);
    }
    if (event.type === 'teammate:joined') {
      this.#joinedBy.set(event.memberId, by);
      this.restarts.joined(event);
      this.#checkCount(event.memberId);
    }
    if (event.type === 'teammate:stopped') this.restarts.stopped(event);
    if (event.type === 'team:updated') this.restarts.renewed();
    if (event.type === 'message:delivered') this.mail.delivered(event);
    if (event.type === 'message:sent') this.mail.sent(event);
    if (event.type === 'message:acknowledged' || event.type === 'message:read') this.mail.left(event.messageIds);
    this.landing.look();
    evolve(this.state, event);
    if (taskId !== undefined && this.state.tasks.get(taskId)?.dependencies !== before?.dependencies) {
      this.require(!this.#isCircular(taskId, taskId), `Task ${taskId} waits for itself`);
    }
    if (event.type === 'work:landed') {
      this.counts.landed++;
      this.landing.landed(event, tip);
    }
    if (event.type === 'task:completed') {
      this.#ended.add(event.taskId);
      this.landing.completed(event);
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

  /** The process of a member calls its daemon. */
  called(commandId: string, memberId: string, machine: string): void {
    this.#callers.set(commandId, { memberId, machine });
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
      this.require(this.mail.isSent(result.id), `${who.memberId} was told that ${result.id} was sent`);
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
    this.counts.shown += messages.length;
    this.mail.shown(memberId, sessionId, messages);
  }
}

function copyOf(task: TaskRecord | undefined): TaskRecord | undefined {
  return task && { ...task };
}
