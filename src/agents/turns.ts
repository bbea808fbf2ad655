import { TeamError } from '../core/errors.ts';
import type { AgentEvent, AgentSession, Sent, Turn, TurnEnd, When } from './agent.ts';

/** Runs one turn: reports events, resolves with the end, and stops when the signal aborts. */
export type RunTurn = (turn: Turn, emit: (event: AgentEvent) => void, signal: AbortSignal) => Promise<TurnEnd>;

/** What an agent that outlives a turn can do besides. */
export interface LiveAgent {
  /** Adds a text to the running turn; returns whether the turn took it. */
  readonly steer?: (turn: Turn) => Promise<boolean>;
  readonly changeMode?: AgentSession['changeMode'];
  readonly askToStop?: AgentSession['askToStop'];
  readonly holdsTools?: AgentSession['holdsTools'];
  /** Ends the rest of the agent when no turn runs any more. */
  readonly close?: () => Promise<void>;
  /** Resolves with the reason when the agent is gone for good; its running turn must then fail by itself. */
  readonly gone?: Promise<string>;
}

const CANCELLED: AgentEvent = { type: 'turnEnd', reason: 'cancelled', text: '' };

/**
 * A session that runs one turn at a time; other turns queue. A text that should steer also queues if the agent cannot
 * be reached during a turn, or if the turn has just ended.
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
    // A cancelled turn may still emit events; they are dropped.
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
    ...(live.holdsTools && { holdsTools: live.holdsTools }),
    close: () => (closing ??= end(CANCELLED)),
  };
}

/** Whatever a turn does, it has exactly one end. */
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
      ...(isOverload && { trouble: 'overloaded' }),
    };
  }
}

function failed(error: string): TurnEnd {
  return { type: 'turnEnd', reason: 'failed', text: '', error };
}

/** A stream with one reader; items pushed before the reader came are kept. */
interface Pushable<T> extends AsyncIterable<T> {
  readonly push: (item: T) => void;
  /** No more items; the reader ends after the existing ones. */
  end(): void;
}

/** An empty stream. */
function pushable<T>(): Pushable<T> {
  const items: T[] = [];
  let ended = false;
  let wake = (): void => {};
  return {
    push(item) {
      if (ended) return;
      items.push(item);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (items.length > 0) yield items.shift() as T;
        if (ended) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
