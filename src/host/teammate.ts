import type { Agent, StartOptions, TaskJson } from '../agents/agent.ts';
import type { TeamEvent } from '../core/event.ts';
import { converse } from './conversation.ts';
import type { Conversation, TurnEnd } from './conversation.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';
import { openMail } from './mail.ts';
import type { Mail } from './mail.ts';
import { makeTurn } from './prompt.ts';
import { openTranscript, shownMessages } from './transcript.ts';
import { watchTeam } from './watch.ts';
import type { Watch } from './watch.ts';

/** One teammate: who it is, what plays it, and how it reaches its team. */
export interface TeammateOptions {
  readonly door: Door;
  readonly agent: Agent;
  readonly start: StartOptions;
  /** Where a session's transcript is. */
  readonly transcriptPath: (sessionId: string) => string;
  /** Aborts to end the teammate now; what it holds goes back. */
  readonly signal: AbortSignal;
  /** Hears of trouble that the loop lives with. */
  readonly onError?: (error: unknown) => void;
}

/** How often the same work may come back from a gate before a person has to look at it. */
const TRIES_PER_TASK = 3;

/** How often in a row a hook may keep a member from going idle: feedback that changes nothing must not cost for ever. */
const KEPT_IN_A_ROW = 3;

/** Why the loop ended: it agreed to shut down, it was told to, its team or membership is over, or the agent died. */
export type Ending = 'shutdown' | 'stopped' | 'over' | 'crashed';

/**
 * The life of a teammate: mail, the next task, do it, done or failed, idle when nothing is left, until it is asked to
 * stop. It sleeps until something happens; it never polls.
 */
export async function runTeammate(options: TeammateOptions): Promise<Ending> {
  const { door, agent, start, signal, transcriptPath } = options;
  const who = { teamId: start.teamId, memberId: start.memberId };
  const watch = watchTeam(door, who.memberId, { signal, onError: (error) => options.onError?.(error) });
  const { sessionId: lastSession } = await door.call('member.show', who);
  const mail = await openMail(door, who, shownMessages(transcriptPath(lastSession)));
  const session = await agent.start(start);
  const transcript = openTranscript(transcriptPath(session.id));
  transcript.write({ at: Date.now(), type: 'session', sessionId: session.id, agent: agent.kind });
  const conversation = converse(session, transcript, {
    shown: (messageIds) => mail.acknowledge(messageIds),
    usage: async (usage) => void (await door.call('usage.record', { ...who, usage })),
    permission: ({ answer }) => answer({ allow: false, message: 'nobody can be asked' }),
    failed: (error) => options.onError?.(error),
  });
  const teammate = new Teammate(options, who, watch, mail, conversation);
  try {
    await door.call('member.update', { ...who, status: 'active', sessionId: session.id });
    return await Promise.race([teammate.live(), conversation.over.then((): Ending => 'crashed')]);
  } finally {
    await conversation.close();
    transcript.close();
  }
}

class Teammate {
  readonly #options: TeammateOptions;
  readonly #who: { teamId: string; memberId: string };
  readonly #watch: Watch;
  readonly #mail: Mail;
  readonly #conversation: Conversation;
  /** What the last turn produced; told when it goes idle. */
  #lastResult: string | undefined;
  #idle = false;
  /** How often a hook kept it from going idle since its last task. */
  #kept = 0;

  constructor(
    options: TeammateOptions,
    who: { teamId: string; memberId: string },
    watch: Watch,
    mail: Mail,
    conversation: Conversation,
  ) {
    this.#options = options;
    this.#who = who;
    this.#watch = watch;
    this.#mail = mail;
    this.#conversation = conversation;
  }

  async live(): Promise<Ending> {
    const { signal } = this.#options;
    for (;;) {
      if (signal.aborted) return 'stopped';
      try {
        const ending = await this.#step();
        if (ending) return ending;
      } catch (error) {
        const code = codeOf(error);
        if (code === 'team_closed' || code === 'member_stopped' || code === 'not_found') return 'over';
        this.#options.onError?.(error);
        // Whatever it was, it is tried again when something happens.
        await this.#watch.next();
      }
    }
  }

  /** Does one thing; sleeps when there is none. */
  async #step(): Promise<Ending | undefined> {
    if (await this.#agreeToShutdown()) return 'shutdown';
    const task = await this.#claim();
    if (task) {
      this.#kept = 0;
      await this.#work(task);
    } else if (!this.#options.agent.abilities.mail || !(await this.#readMail())) await this.#rest();
    return undefined;
  }

  /** A turn for the mail that waits; says whether there was any. */
  async #readMail(): Promise<boolean> {
    const messages = await this.#mail.take(this.#conversation.sessionId);
    if (messages.length === 0) return false;
    await this.#wake();
    const end = await this.#turnWithSteering(makeTurn({ messages }));
    this.#lastResult = end.text;
    return true;
  }

  async #claim(): Promise<TaskJson | undefined> {
    try {
      return (await this.#options.door.call('task.claim', { teamId: this.#who.teamId })) ?? undefined;
    } catch (error) {
      // Shutting down: no new work is taken, but there may be mail and a request to answer.
      if (codeOf(error) === 'conflict') return undefined;
      throw error;
    }
  }

  /** A task to its end, whatever that is. */
  async #work(task: TaskJson): Promise<void> {
    await this.#wake();
    let feedback: string | undefined;
    for (let attempt = 1; ; attempt++) {
      const messages = await this.#mail.take(this.#conversation.sessionId);
      const end = await this.#turnWithSteering(makeTurn({ task, messages, feedback }), task);
      this.#lastResult = end.text || end.error;
      const verdict = await this.#finish(task, end);
      if (verdict === undefined) return;
      if (attempt >= TRIES_PER_TASK) {
        await this.#giveUp(task, verdict);
        return;
      }
      feedback = verdict;
    }
  }

  /** Records how a turn on a task ended; returns what a gate said if it sent the work back. */
  async #finish(task: TaskJson, end: TurnEnd): Promise<string | undefined> {
    const { door } = this.#options;
    const held = { teamId: this.#who.teamId, taskId: task.id, epoch: task.epoch };
    try {
      const now = await door.call('task.show', { teamId: held.teamId, taskId: held.taskId });
      // The agent ended it itself through its tools, or it was taken away.
      if (now.status !== 'in_progress' || now.epoch !== task.epoch) return undefined;
      if (end.reason === 'done') await door.call('task.complete', { ...held, result: end.text });
      else if (end.reason === 'failed') {
        await door.call('task.fail', { ...held, reason: end.error ?? 'the agent failed' });
      } else await door.call('task.release', { ...held, reason: 'the turn was cancelled' });
      return undefined;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'gate_rejected') return (error as Error).message;
      if (code === 'stale_revision') return this.#finish(task, end);
      if (code === 'stale_epoch' || code === 'conflict' || code === 'not_allowed') return undefined;
      throw error;
    }
  }

  /** A gate keeps sending the work back: a person has to look at it, and the task stays ours until then. */
  async #giveUp(task: TaskJson, feedback: string): Promise<void> {
    const result = this.#lastResult?.slice(0, 8_000);
    await this.#options.door.call('request.raise', {
      ...this.#who,
      kind: 'gate',
      taskId: task.id,
      content: `A gate sent task #${task.id} back ${TRIES_PER_TASK} times. The last time it said: ${feedback}`.slice(
        0,
        8_000,
      ),
      detail: { epoch: task.epoch, ...(result !== undefined && { result }) },
    });
  }

  /** Runs a turn; urgent mail joins it where the agent can take it, and losing the task ends it. */
  async #turnWithSteering(turn: Parameters<Conversation['turn']>[0], task?: TaskJson): Promise<TurnEnd> {
    const { signal, agent } = this.#options;
    const cancel = (): void => void this.#conversation.cancel();
    const stopListening = this.#watch.onEvent((event) => {
      if (isUrgentMail(event, this.#who.memberId) && agent.abilities.steer) void this.#steer();
      if (task && takesAway(event, task)) cancel();
    });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await this.#conversation.turn(turn);
    } finally {
      signal.removeEventListener('abort', cancel);
      stopListening();
    }
  }

  async #steer(): Promise<void> {
    try {
      const messages = await this.#mail.take(this.#conversation.sessionId, { urgentOnly: true });
      if (messages.length > 0) await this.#conversation.steer(makeTurn({ messages }));
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  /** Finishing what it does comes first: it is asked between two tasks. */
  async #agreeToShutdown(): Promise<boolean> {
    const { door } = this.#options;
    const requests = await door.call('request.list', { teamId: this.#who.teamId, status: 'pending', kind: 'shutdown' });
    const mine = requests.find((request) => request.memberId === this.#who.memberId);
    if (!mine) return false;
    await door.call('shutdown.approve', { teamId: this.#who.teamId, requestId: mine.id });
    return true;
  }

  async #wake(): Promise<void> {
    if (!this.#idle) return;
    this.#idle = false;
    await this.#options.door.call('member.update', { ...this.#who, status: 'active' });
  }

  /** Tells once that there is nothing left, with what was produced; then sleeps until something happens. */
  async #rest(): Promise<void> {
    if (!this.#idle) {
      const idle = { ...this.#who, ...(this.#lastResult !== undefined && { result: this.#lastResult }) };
      if (this.#kept < KEPT_IN_A_ROW && !(await this.#options.door.call('member.idle', idle)).idle) {
        // What the hook had to say came as mail; it is for now, also for an agent that is not started for mail.
        this.#kept++;
        await this.#readMail();
        return;
      }
      if (this.#kept >= KEPT_IN_A_ROW) await this.#options.door.call('member.update', { ...idle, status: 'idle' });
      this.#idle = true;
    }
    await this.#watch.next();
  }
}

function isUrgentMail(event: TeamEvent, memberId: string): boolean {
  return (
    event.type === 'message:sent' && event.priority === 'urgent' && event.copies.some(({ toId }) => toId === memberId)
  );
}

/** The task changed hands or is gone: going on would be work for nothing. */
function takesAway(event: TeamEvent, task: TaskJson): boolean {
  if (event.type === 'team:closed') return true;
  if (!('taskId' in event) || event.taskId !== task.id) return false;
  return 'epoch' in event && event.epoch > task.epoch;
}
