import { isDeepStrictEqual } from 'node:util';
import type {
  Agent,
  AgentEvent,
  AgentSession,
  Mode,
  StartOptions,
  TaskJson,
  TeamTools,
  Turn,
  TurnEnd,
} from '../agents/agent.ts';
import { withCost } from '../core/prices.ts';
import { NO_USAGE } from '../core/usage.ts';
import { joinsTurn, takesAway } from './during-turn.ts';
import type { Hearing } from './hearing.ts';
import { describeWish } from './permissions.ts';
import { newTally } from './spending.ts';
import { openTranscript } from './transcript.ts';
import type { Transcript, TranscriptEntry } from './transcript.ts';
import type { Watch } from './watch.ts';

/** The parts of a conversation. */
export interface ConversationOptions {
  readonly agent: Agent;
  readonly start: StartOptions;
  readonly transcriptPath: (sessionId: string) => string;
  /** The team's tools as they are now; without it they stay as in `start`. */
  readonly toolsNow?: (() => TeamTools) | undefined;
  readonly watch: Watch;
  readonly hearing: Hearing;
  /** Aborts to end the running turn. */
  readonly signal: AbortSignal;
  /** How often the usage of a running turn is recorded at most, in milliseconds. */
  readonly spendingMs?: number | undefined;
}

/** A member's agent session: one turn after another, every event written to the transcript first. */
export interface Conversation {
  readonly sessionId: string;
  readonly mode: Mode;
  /** The conversation is so long that the next turn may not fit. */
  readonly isFull: boolean;
  /**
   * Runs a turn to its end. Losing the task ends it; `onUrgent` is called for an urgent message that could join it. No
   * turn begins after the signal to stop, or when the agent is gone.
   */
  turn(turn: Turn, options?: { task?: TaskJson | undefined; onUrgent?: () => void }): Promise<TurnEnd>;
  /**
   * Adds to the running turn if the agent can do that. If it is too late, it becomes its own turn, and this resolves
   * with that turn's end: the next turn must not begin before.
   */
  steer(turn: Turn): Promise<TurnEnd | undefined>;
  /** Ends the running turn, which then reports `cancelled`. */
  cancel(): Promise<void>;
  /** Continues the conversation in another mode; starts a new one if the agent cannot resume. */
  changeMode(mode: Mode): Promise<void>;
  /** Whether the agent agrees to stop; undefined if its program has no such question of its own. */
  askToStop(reason: string): Promise<{ agreed: boolean; reason?: string } | undefined>;
  /** Continues in a fresh conversation in the same mode. */
  renew(): Promise<void>;
  /** Adds an entry to its transcript while that is open. */
  note(entry: TranscriptEntry): void;
  close(): Promise<void>;
  /** Mail that is not urgent joins a running turn, too. */
  readonly takesAllMail: boolean;
  /** Resolves when the session ended unasked. */
  readonly lost: Promise<void>;
}

/** Agents that compact their conversation by themselves do so well before this. */
const FULL = 0.92;

/** Starts the agent and begins to listen to it. */
export async function openConversation(options: ConversationOptions): Promise<Conversation> {
  const { agent, start, watch, hearing, signal } = options;
  const lost = Promise.withResolvers<void>();
  let mode = start.mode;
  let tools = start.tools;
  /** Turns that were sent and have not ended, oldest first: a turn, and those that came too late to join it. */
  const running: Running[] = [];
  let fullness = 0;
  let isWaiting = false;
  const tally = newTally({
    record: (usage, taskId) => hearing.usage(usage, taskId),
    onError: (error) => hearing.failed(error),
    everyMs: options.spendingMs,
  });
  let open = await openSession(start);

  async function openSession(how: StartOptions): Promise<Open> {
    const session = await agent.start(how);
    const transcript = openTranscript(options.transcriptPath(session.id));
    transcript.write({ at: Date.now(), type: 'session', sessionId: session.id, agent: agent.kind });
    const opened: Open = { session, transcript, closing: false, isOver: false, over: Promise.resolve() };
    opened.over = listen(opened).then(async () => {
      opened.isOver = true;
      await tally.end();
      transcript.close();
      if (opened.closing) return;
      for (const { ended } of running.splice(0)) ended.resolve(LOST);
      lost.resolve();
    });
    await hearing.opened(session.id);
    return opened;
  }

  async function listen({ session, transcript }: Open): Promise<void> {
    for await (const event of session.events) {
      try {
        await hear(event, transcript);
      } catch (error) {
        hearing.failed(error);
      }
    }
  }

  async function hear(event: AgentEvent, transcript: Transcript): Promise<void> {
    const at = Date.now();
    hearing.heard(event);
    if (event.type === 'permission') {
      transcript.write({ at, type: 'permission', tool: event.tool, description: describeWish(event) });
      hearing.permission(event, mode);
      return;
    }
    if (event.type !== 'limits' && event.type !== 'spending' && event.type !== 'alive') {
      transcript.write({ at, ...event });
    }
    if (isWaiting && event.type !== 'waiting') {
      isWaiting = false;
      await hearing.waiting(undefined);
    }
    if (event.type === 'text' || event.type === 'tool') await hearing.answered();
    if (event.type === 'limits') await hearing.limits(event.windows);
    else if (event.type === 'shown') await hearing.shown(event.messageIds);
    else if (event.type === 'usage') {
      const [current] = running;
      if (current) current.turns += event.usage.turns;
      if (event.context) fullness = event.context.used / event.context.size;
      const rest = await tally.settle(withCost(event.usage, event.model ?? start.model));
      await hearing.usage(rest, current?.task?.id, event.context);
    } else if (event.type === 'spending') {
      tally.grow(withCost(event.usage, event.model ?? start.model), running[0]?.task?.id);
    } else if (event.type === 'compacted') hearing.compacted();
    else if (event.type === 'waiting') {
      isWaiting = true;
      await hearing.waiting(event.reason, event.until);
    } else if (event.type === 'turnEnd') await end(event);
  }

  /** Every turn counts, even if the agent reports no usage. */
  async function end(event: TurnEnd): Promise<void> {
    const [current] = running;
    try {
      await tally.end();
      if (current?.turns === 0) await hearing.usage({ ...NO_USAGE, turns: 1 }, current.task?.id);
    } finally {
      if (current) forget(current);
      current?.ended.resolve(event);
      // The turn behind it has begun by now.
      if (signal.aborted && running.length > 0) void open.session.cancel();
    }
  }

  function expect(task?: TaskJson): Running {
    const sent = { task, turns: 0, ended: Promise.withResolvers<TurnEnd>() };
    running.push(sent);
    return sent;
  }

  function forget(sent: Running): void {
    const at = running.indexOf(sent);
    if (at >= 0) running.splice(at, 1);
  }

  async function reopen(resume: string | undefined): Promise<void> {
    await closeSession();
    fullness = 0;
    try {
      open = await openSession({ ...start, mode, tools, resume });
    } catch (error) {
      // The member has no session any more.
      lost.resolve();
      throw error;
    }
  }

  /** An agent that holds a revoked credential would fail at every call of its tools. */
  async function refreshTools(): Promise<void> {
    const now = options.toolsNow?.();
    if (!now || !open.session.holdsTools || isDeepStrictEqual(now, tools)) return;
    tools = now;
    await reopen(agent.abilities.resume ? open.session.id : undefined);
  }

  async function closeSession(): Promise<void> {
    open.closing = true;
    await open.session.close();
    await open.over;
  }

  return {
    get sessionId() {
      return open.session.id;
    },
    get mode() {
      return mode;
    },
    get isFull() {
      return fullness >= FULL;
    },
    lost: lost.promise,
    takesAllMail: agent.takesAllMail === true,
    note(entry) {
      if (!open.isOver) open.transcript.write(entry);
    },
    async turn(turn, { task, onUrgent } = {}) {
      if (open.isOver) return LOST;
      if (signal.aborted) return CANCELLED;
      await refreshTools();
      const { session, transcript } = open;
      const sent = expect(task);
      const cancel = (): void => void session.cancel();
      const stopListening = watch.onEvent((event) => {
        if (task && takesAway(event, task)) cancel();
        if (onUrgent && agent.abilities.steer && joinsTurn(event, start.memberId, agent)) onUrgent();
      });
      signal.addEventListener('abort', cancel, { once: true });
      try {
        transcript.turn(turn);
        hearing.begun();
        await session.send(turn, { when: 'next' });
        return await sent.ended.promise;
      } finally {
        forget(sent);
        signal.removeEventListener('abort', cancel);
        stopListening();
      }
    },
    async steer(turn) {
      if (open.isOver) return LOST;
      const sent = expect();
      const cancel = (): void => void open.session.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        open.transcript.turn(turn);
        if ((await open.session.send(turn, { when: 'steer' })) === 'injected') return undefined;
        return await sent.ended.promise;
      } finally {
        forget(sent);
        signal.removeEventListener('abort', cancel);
      }
    },
    cancel: () => open.session.cancel(),
    async changeMode(wanted) {
      if (wanted === mode) return;
      mode = wanted;
      if (await open.session.changeMode?.(wanted)) return;
      await reopen(agent.abilities.resume ? open.session.id : undefined);
    },
    askToStop: async (reason) => open.session.askToStop?.(reason),
    renew: () => reopen(undefined),
    close: closeSession,
  };
}

/** A turn that did not begin, or that we ended. */
export const CANCELLED: TurnEnd = { type: 'turnEnd', reason: 'cancelled', text: '' };

const LOST: TurnEnd = { type: 'turnEnd', reason: 'failed', text: '', error: 'the agent ended', lost: true };

interface Running {
  readonly task: TaskJson | undefined;
  /** Turns that the agent itself counted. */
  turns: number;
  readonly ended: PromiseWithResolvers<TurnEnd>;
}

interface Open {
  readonly session: AgentSession;
  readonly transcript: Transcript;
  /** We are closing it. */
  closing: boolean;
  /** It has ended, and its transcript is closed: a gate may take longer than its agent lives. */
  isOver: boolean;
  over: Promise<void>;
}
