import type { Agent, Mode, StartOptions, TaskJson } from '../agents/agent.ts';
import { RESULT_BYTES } from '../core/limits.ts';
import { cutToBytes } from '../core/text.ts';
import type { Bench } from './bench.ts';
import { isSpent } from './budget.ts';
import { CANCELLED } from './conversation.ts';
import { codeOf } from './door.ts';
import { answerShutdown } from './farewell.ts';
import type { Lead } from './lead.ts';
import { beginWork } from './open-work.ts';
import { isInterrupted, isOver } from './over.ts';
import { planFor } from './plan.ts';
import { makeTurn } from './prompt.ts';
import type { Watch } from './watch.ts';
import { finish, turnWithMail, workOn } from './work.ts';

/** What the steps of a teammate depend on. */
export interface StepsOptions {
  readonly agent: Agent;
  readonly start: StartOptions;
  /** Its mode once its plan is approved. */
  readonly workMode?: Mode;
  /** Aborts to end the teammate now; its tasks are released. */
  readonly signal: AbortSignal;
  /** Gets errors that the loop survives. */
  readonly onError?: (error: unknown) => void;
}

/** How often in a row a hook may keep a member from going idle: useless feedback must not cost money forever. */
const KEPT_IN_A_ROW = 3;

/**
 * Why the loop ended: it agreed to shut down, it was told to stop, its team or membership is over, the agent died, or the
 * member goes on with another agent.
 */
export type Ending = 'shutdown' | 'stopped' | 'over' | 'crashed' | 'switched';

/** What a teammate does, one step after the other. */
export class Teammate {
  readonly #options: StepsOptions;
  readonly #bench: Bench;
  readonly #watch: Watch;
  readonly #lead: Lead | undefined;
  /** The result of the last turn; reported when it goes idle. */
  #lastResult: string | undefined;
  #idle = false;
  /** How often a hook kept it from going idle since its last task. */
  #kept = 0;

  constructor(options: StepsOptions, bench: Bench, watch: Watch, lead: Lead | undefined) {
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
    if (this.#bench.account.isSwitched) return 'switched';
    // Asked between two tasks, so that current work is finished first.
    const { agent, start } = this.#options;
    if (await answerShutdown(this.#bench, { agent, tools: start.tools })) return 'shutdown';
    // A member without budget holds no work that others could do.
    if (await isSpent(this.#bench.door, this.#bench.who)) {
      await this.#rest({ mayTurn: false });
      return undefined;
    }
    // Nor does one whose account cannot be used. The work that it holds already stays with it.
    const { free, until } = await this.#bench.account.isFree();
    if (this.#bench.account.isSwitched) return 'switched';
    if (!free) {
      await this.#rest({ mayTurn: false, until });
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
      if (!(await beginWork(this.#bench, task))) {
        await finish(this.#bench, task, CANCELLED, 'stopped before its workspace could be used');
        return;
      }
      if (await this.#mayBegin(task)) this.#produced(await workOn(this.#bench, task));
    } catch (error) {
      // A stop ends a wait for the disk or for a repair, and the wait then throws its cause. That is no fault of the task.
      if (this.#options.signal.aborted) {
        await finish(this.#bench, task, CANCELLED, 'stopped while it waited').catch(() => {});
        throw error;
      }
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
    const { door, who, conversation } = this.#bench;
    if (!(await door.call('member.show', who)).planModeRequired) return true;
    const planned = await planFor(this.#bench, task, {
      watch: this.#watch,
      isInterrupted: () => isInterrupted(door, who, this.#options.signal),
    });
    if (planned === 'approved') await conversation.changeMode(this.#options.workMode ?? 'edit');
    else if (planned === 'interrupted') {
      await finish(this.#bench, task, CANCELLED, 'stopped before its plan was approved');
    }
    return planned === 'approved';
  }

  /** Runs a turn for waiting messages, or for a lead's digest. Returns false if there were none. */
  async #readMail(): Promise<boolean> {
    const { mail, conversation } = this.#bench;
    if (this.#lead) {
      const said = await this.#lead.listen(() => this.#wake());
      if (said !== undefined) this.#produced(said);
      return said !== undefined;
    }
    if (!this.#options.agent.abilities.mail) return false;
    const messages = await mail.take(conversation.sessionId);
    if (messages.length === 0) return false;
    await this.#wake();
    const end = await turnWithMail(this.#bench, makeTurn({ messages }));
    this.#produced(end.text);
    return true;
  }

  #produced(text: string): void {
    this.#lastResult = cutToBytes(text, RESULT_BYTES);
  }

  async #wake(): Promise<void> {
    if (!this.#idle) return;
    this.#idle = false;
    await this.#bench.door.call('member.update', { ...this.#bench.who, status: 'active' });
  }

  /** Reports once that nothing is left, with the last result; then sleeps until something happens. */
  async #rest({ mayTurn = true, until }: { mayTurn?: boolean; until?: number | undefined } = {}): Promise<void> {
    if (!this.#idle) {
      const { door, who } = this.#bench;
      const idle = { ...who, ...(this.#lastResult !== undefined && { result: this.#lastResult }) };
      // Hooks never keep a lead from resting: they are for the work of teammates.
      // Nor a member that may begin no turn, since it could not follow the hook.
      const asks = mayTurn && !this.#lead && this.#kept < KEPT_IN_A_ROW;
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
    const { isOwn } = await this.#watch.next(until === undefined ? {} : { until });
    // What a lead did in a turn that failed is no reason to repeat that turn: it might do and pay for it for ever.
    if (!isOwn) this.#lead?.stir();
  }

  /** The hook's feedback came as a message; it is read now, even by an agent that is not started for messages. */
  async #hearHook(): Promise<void> {
    const messages = await this.#bench.mail.take(this.#bench.conversation.sessionId);
    if (messages.length === 0) return;
    this.#produced((await turnWithMail(this.#bench, makeTurn({ messages }))).text);
  }
}
