import type { Agent, Mode, StartOptions, TaskJson, TeamTools } from '../agents/agent.ts';
import type { AgentSpec } from '../core/agent.ts';
import { LINE_LENGTH, RESULT_BYTES } from '../core/limits.ts';
import { cutToBytes, shorten } from '../core/text.ts';
import type { Bench } from './bench.ts';
import { isSpent, waitForBudget } from './budget.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';
import { beginToLead } from './lead.ts';
import type { Lead } from './lead.ts';
import { openMail } from './mail.ts';
import { closingDoor, isInterrupted, isOver, onStopped, pendingShutdown } from './over.ts';
import { patientDoor } from './patience.ts';
import { answerPermissions } from './permissions.ts';
import { planFor } from './plan.ts';
import { makeTurn } from './prompt.ts';
import { CANCELLED, takeSeat } from './seat.ts';
import { shownMessages } from './transcript.ts';
import { pauseFor, watchTeam } from './watch.ts';
import type { Watch } from './watch.ts';
import { finish, isHeld, retryAfter, turnWithMail, workOn } from './work.ts';

/** One teammate: its identity, its agent, and how it reaches its team. */
export interface TeammateOptions {
  readonly door: Door;
  readonly agent: Agent;
  readonly start: StartOptions;
  /** A person's permission rules. */
  readonly permissions?: AgentSpec['permissions'];
  /** Its mode once its plan is approved. */
  readonly workMode?: Mode;
  /** The path of a session's transcript. */
  readonly transcriptPath: (sessionId: string) => string;
  /** The team's tools as they are now: their credential changes with `troupe token rotate`. */
  readonly toolsNow?: () => TeamTools;
  /** Aborts to end the teammate now; its tasks are released. */
  readonly signal: AbortSignal;
  /** Gets errors that the loop survives. */
  readonly onError?: (error: unknown) => void;
  /** The back-off for an overloaded model, in milliseconds; undefined to give up. */
  readonly retryAfter?: (attempt: number) => number | undefined;
}

/** How often in a row a hook may keep a member from going idle: useless feedback must not cost money forever. */
const KEPT_IN_A_ROW = 3;

/**
 * Why the loop ended: it agreed to shut down, it was told to stop, its team or membership is over, or the agent died.
 */
export type Ending = 'shutdown' | 'stopped' | 'over' | 'crashed';

/**
 * The life of a teammate until it is asked to stop: read messages, claim a task, do it, complete or fail it, go idle. A
 * lead lives the same way, but gets digests and takes only tasks reserved for it. Both sleep until something happens;
 * they never poll.
 */
export async function runTeammate(options: TeammateOptions): Promise<Ending> {
  // Whatever ends it, nothing follows the team or acts in its name afterwards.
  const over = new AbortController();
  try {
    const door = closingDoor(options.door, over.signal);
    return await runUntil(over, { ...options, door, signal: AbortSignal.any([options.signal, over.signal]) });
  } catch (error) {
    if (isOver(error)) return 'over';
    throw error;
  } finally {
    over.abort();
  }
}

async function runUntil(over: AbortController, given: TeammateOptions): Promise<Ending> {
  const replaced = new AbortController();
  const options = { ...given, signal: AbortSignal.any([given.signal, replaced.signal]) };
  const { agent, start, signal, transcriptPath } = options;
  const onError = (error: unknown): void => options.onError?.(error);
  const door = patientDoor(options.door, { signal, onError });
  const who = { teamId: start.teamId, memberId: start.memberId };
  const { leadId } = await door.call('team.show', { teamId: who.teamId });
  const leads = leadId === who.memberId;
  const watch = watchTeam(door, { ...who, leads }, { signal, onError });
  const { sessionId: lastSession, spawnPrompt: goal = '' } = await door.call('member.show', who);
  const mail = await openMail(door, who, shownMessages(transcriptPath(lastSession)));
  const tellWaiting = async (reason: string | undefined, until?: number): Promise<void> => {
    const waiting =
      reason === undefined ? null : { reason: shorten(reason, 300), ...(until !== undefined && { until }) };
    await door.call('member.update', { ...who, metadata: { waiting } });
  };
  let forget = (): void => {};
  const seat = await takeSeat({
    agent,
    start,
    transcriptPath,
    toolsNow: options.toolsNow,
    watch,
    signal,
    hearing: {
      shown: (messageIds) => mail.acknowledge(messageIds),
      usage: async (usage, taskId, context) =>
        void (await door.call('usage.record', {
          ...who,
          usage,
          ...(taskId !== undefined && { taskId }),
          ...(context && { context }),
        })),
      permission: answerPermissions({ door, who, cwd: start.cwd, watch, rules: options.permissions, onError }),
      opened: async (sessionId) => void (await door.call('member.update', { ...who, status: 'active', sessionId })),
      compacted: () => forget(),
      waiting: tellWaiting,
      failed: onError,
    },
  });
  const mustLeave = (task?: TaskJson) => async (): Promise<boolean> =>
    (await isInterrupted(door, who, signal)) || (task !== undefined && !(await isHeld({ door, who }, task)));
  const bench: Bench = {
    door,
    who,
    seat,
    mail,
    mayTurn: (task) => waitForBudget(door, who, watch, mustLeave(task)),
    pause: (ms, task) => pauseFor(ms, watch, mustLeave(task)),
    retryAfter: options.retryAfter ?? retryAfter,
    tellWaiting,
    onError,
  };
  const resumed = start.resume !== undefined && agent.abilities.resume;
  const lead = leads ? beginToLead(bench, { goal, resumed }) : undefined;
  if (lead) forget = () => lead.forget();
  const teammate = new Teammate(options, bench, watch, lead);
  onStopped(watch, who.memberId, () => replaced.abort());
  try {
    const ending = await Promise.race([teammate.live(), seat.lost.then((): Ending => (over.abort(), 'crashed'))]);
    return ending === 'stopped' && !given.signal.aborted ? 'over' : ending;
  } finally {
    await seat.close();
  }
}

class Teammate {
  readonly #options: TeammateOptions;
  readonly #bench: Bench;
  readonly #watch: Watch;
  readonly #lead: Lead | undefined;
  /** The result of the last turn; reported when it goes idle. */
  #lastResult: string | undefined;
  #idle = false;
  /** How often a hook kept it from going idle since its last task. */
  #kept = 0;

  constructor(options: TeammateOptions, bench: Bench, watch: Watch, lead: Lead | undefined) {
    this.#options = options;
    this.#bench = bench;
    this.#watch = watch;
    this.#lead = lead;
  }

  async live(): Promise<Ending> {
    const { signal } = this.#options;
    for (;;) {
      if (signal.aborted) return 'stopped';
      try {
        const ending = await this.#step();
        if (ending) return ending;
      } catch (error) {
        // Its credential will not become valid again. A new process gets a new one.
        if (codeOf(error) === 'unauthenticated') throw error;
        if (isOver(error) || (codeOf(error) === 'not_found' && (await this.#isGone()))) return 'over';
        this.#options.onError?.(error);
        // Whatever it was, it is retried when something happens.
        await this.#watch.next();
      }
    }
  }

  /** Something was not found: whether that is its team or itself, not just something that it wanted to change. */
  async #isGone(): Promise<boolean> {
    const { door, who } = this.#bench;
    return door.call('member.show', who).then(
      () => false,
      (error: unknown) => codeOf(error) === 'not_found',
    );
  }

  /** Does one thing; sleeps if there is none. */
  async #step(): Promise<Ending | undefined> {
    if (await this.#agreeToShutdown()) return 'shutdown';
    // A member without budget holds no work that others could do.
    if (await isSpent(this.#bench.door, this.#bench.who)) {
      await this.#rest();
      return undefined;
    }
    const task = await this.#claim();
    if (task) {
      this.#kept = 0;
      await this.#wake();
      await this.#do(task);
    } else if (!(await this.#readMail())) await this.#rest();
    return undefined;
  }

  async #do(task: TaskJson): Promise<void> {
    try {
      if (await this.#mayBegin(task)) this.#produced(await workOn(this.#bench, task));
    } catch (error) {
      // Held without work, the task would never end. Released, members might claim and pay for it again and again.
      const said = `It could not continue: ${error instanceof Error ? error.message : String(error)}`;
      await finish(this.#bench, task, { ...CANCELLED, reason: 'failed', error: said }).catch(() => {});
      throw error;
    }
  }

  async #claim(): Promise<TaskJson | undefined> {
    if (this.#lead) return this.#lead.claim();
    const { door, who } = this.#bench;
    try {
      return (await door.call('task.claim', { teamId: who.teamId })) ?? undefined;
    } catch (error) {
      // The team is shutting down: no new work, but perhaps messages and a request to answer.
      if (codeOf(error) === 'conflict') return undefined;
      throw error;
    }
  }

  /** A member whose plan must be approved plans first; the first approval also covers later tasks. */
  async #mayBegin(task: TaskJson): Promise<boolean> {
    const { door, who, seat } = this.#bench;
    if (!(await door.call('member.show', who)).planModeRequired) return true;
    const planned = await planFor(this.#bench, task, {
      watch: this.#watch,
      isInterrupted: () => isInterrupted(door, who, this.#options.signal),
    });
    if (planned === 'approved') await seat.changeMode(this.#options.workMode ?? 'edit');
    else if (planned === 'interrupted') {
      await finish(this.#bench, task, CANCELLED, 'stopped before its plan was approved');
    }
    return planned === 'approved';
  }

  /** Runs a turn for waiting messages, or for a lead's digest. Returns false if there were none. */
  async #readMail(): Promise<boolean> {
    const { mail, seat } = this.#bench;
    if (this.#lead) {
      const said = await this.#lead.listen(() => this.#wake());
      if (said !== undefined) this.#produced(said);
      return said !== undefined;
    }
    if (!this.#options.agent.abilities.mail) return false;
    const messages = await mail.take(seat.sessionId);
    if (messages.length === 0) return false;
    await this.#wake();
    const end = await turnWithMail(this.#bench, makeTurn({ messages }));
    this.#produced(end.text);
    return true;
  }

  #produced(text: string): void {
    this.#lastResult = cutToBytes(text, RESULT_BYTES);
  }

  /** Answers a shutdown request. Asked between two tasks, so that current work is finished first. */
  async #agreeToShutdown(): Promise<boolean> {
    const { door, who, seat } = this.#bench;
    const request = await pendingShutdown(door, who);
    if (request === undefined) return false;
    const about = { teamId: who.teamId, requestId: request.id };
    // Asking costs a turn.
    const mayAsk = !(await isSpent(door, who));
    const answer = mayAsk ? await seat.askToStop(request.content) : { agreed: true };
    if (answer.agreed) await door.call('shutdown.approve', about);
    else await door.call('shutdown.reject', { ...about, feedback: shorten(answer.reason ?? '', LINE_LENGTH) });
    return answer.agreed;
  }

  async #wake(): Promise<void> {
    if (!this.#idle) return;
    this.#idle = false;
    await this.#bench.door.call('member.update', { ...this.#bench.who, status: 'active' });
  }

  /** Reports once that nothing is left, with the last result; then sleeps until something happens. */
  async #rest(): Promise<void> {
    if (!this.#idle) {
      const { door, who } = this.#bench;
      const idle = { ...who, ...(this.#lastResult !== undefined && { result: this.#lastResult }) };
      // Hooks never keep a lead from resting: they are for the work of teammates.
      // Nor a member whose budget is used up, since it could not follow the hook.
      const asks = !this.#lead && this.#kept < KEPT_IN_A_ROW && !(await isSpent(door, who));
      if (asks && !(await door.call('member.idle', idle)).idle) {
        this.#kept++;
        await this.#hearHook();
        return;
      }
      // Followers of the team must see whether its lead knows the latest batch.
      const { knows = null, failure = null } = this.#lead ?? {};
      const metadata = this.#lead ? { metadata: { knows, failure } } : {};
      if (!asks) await door.call('member.update', { ...idle, ...metadata, status: 'idle' });
      this.#idle = true;
    }
    const { isOwn } = await this.#watch.next();
    // What a lead did in a turn that failed is no reason to repeat that turn: it might do and pay for it for ever.
    if (!isOwn) this.#lead?.stir();
  }

  /** The hook's feedback came as a message; it is read now, even by an agent that is not started for messages. */
  async #hearHook(): Promise<void> {
    const messages = await this.#bench.mail.take(this.#bench.seat.sessionId);
    if (messages.length === 0) return;
    this.#produced((await turnWithMail(this.#bench, makeTurn({ messages }))).text);
  }
}
