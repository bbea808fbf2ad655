import { TeamError } from '../core/errors.ts';
import type { AgentEvent, AgentSession, Sent, Turn, TurnEnd, When } from './agent.ts';
import { pushable } from './queue.ts';

/** Too many requests, unavailable, and Anthropic's own number for an overloaded model. */
const OVERLOADED = [429, 503, 529];

/** Whether a model's HTTP status says that the same request may succeed later. */
export function isOverloadStatus(status: unknown): boolean {
  return OVERLOADED.includes(status as number);
}

/** How one turn is done: tells what happens, resolves with how it ended, and stops when the signal aborts. */
export type RunTurn = (turn: Turn, emit: (event: AgentEvent) => void, signal: AbortSignal) => Promise<TurnEnd>;

/** What an agent that lives longer than a turn can do besides. */
export interface LiveAgent {
  /** Puts a text into the running turn; says whether the turn took it. */
  readonly steer?: (turn: Turn) => Promise<boolean>;
  readonly changeMode?: AgentSession['changeMode'];
  readonly askToStop?: AgentSession['askToStop'];
  /** Ends what is left of the agent when no turn runs any more. */
  readonly close?: () => Promise<void>;
  /** Resolves with the reason when the agent is gone for good; its running turn must fail by itself then. */
  readonly gone?: Promise<string>;
}

const CANCELLED: AgentEvent = { type: 'turnEnd', reason: 'cancelled', text: '' };

/**
 * A session that does one turn at a time; what comes in between waits. So does what should steer, when the agent cannot be
 * reached while it works, or the turn ended before it could be.
 */
export function turnByTurn(id: string, run: RunTurn, live: LiveAgent = {}): AgentSession {
  const events = pushable<AgentEvent>();
  const waiting: Turn[] = [];
  let current: { abort: AbortController; done: Promise<void> } | undefined;
  let closed = false;
  let closing: Promise<void> | undefined;

  const startNext = (): void => {
    const turn = closed ? undefined : waiting.shift();
    if (turn === undefined) return;
    const abort = new AbortController();
    let ended = false;
    // A turn that was cancelled may still have something to say; nobody listens any more.
    const emit = (event: AgentEvent): void => void (ended || events.push(event));
    const done = runOne(run, turn, emit, abort.signal).then((end) => {
      ended = true;
      events.push(end);
      current = undefined;
      startNext();
    });
    current = { abort, done };
  };

  const cancel = async (): Promise<void> => {
    const running = current;
    running?.abort.abort();
    await running?.done;
  };

  const end = async (last: AgentEvent): Promise<void> => {
    closed = true;
    const unstarted = waiting.splice(0);
    await cancel();
    unstarted.forEach(() => events.push(last));
    await live.close?.();
    events.end();
  };

  void live.gone?.then((error) => {
    closed = true;
    closing ??= Promise.resolve(current?.done).then(() => end(failed(error)));
  });

  return {
    id,
    events,
    async send(turn: Turn, { when }: { when: When }): Promise<Sent> {
      if (closed) return 'queued';
      if (current && when === 'steer' && (await live.steer?.(turn))) return 'injected';
      const running = current;
      if (running && when === 'interrupt') {
        waiting.unshift(turn);
        await cancel();
        return 'restarted';
      }
      waiting.push(turn);
      if (!running) startNext();
      return 'queued';
    },
    cancel,
    ...(live.changeMode && { changeMode: live.changeMode }),
    ...(live.askToStop && { askToStop: live.askToStop }),
    close: () => (closing ??= end(CANCELLED)),
  };
}

/** Whatever a turn does, it ends with one end. */
async function runOne(
  run: RunTurn,
  turn: Turn,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
): Promise<AgentEvent> {
  try {
    return await run(turn, emit, signal);
  } catch (error) {
    if (signal.aborted) return CANCELLED;
    const isOverload = error instanceof TeamError && error.code === 'overloaded';
    return {
      ...failed(error instanceof Error ? error.message : String(error)),
      ...(isOverload && { overloaded: true }),
    };
  }
}

function failed(error: string): TurnEnd {
  return { type: 'turnEnd', reason: 'failed', text: '', error };
}
