import type { AgentEvent, AgentSession, Sent, Turn, When } from './agent.ts';
import { pushable } from './queue.ts';

/** How one turn is done: tells what happens, resolves with how it ended, and stops when the signal aborts. */
export type RunTurn = (
  turn: Turn,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
) => Promise<Extract<AgentEvent, { type: 'turnEnd' }>>;

const CANCELLED: AgentEvent = { type: 'turnEnd', reason: 'cancelled', text: '' };

/**
 * A session of an agent that cannot be reached while it works: one turn at a time, what comes in between waits. Mail
 * that should steer waits too, since nothing could take it.
 */
export function turnByTurn(id: string, run: RunTurn): AgentSession {
  const events = pushable<AgentEvent>();
  const waiting: Turn[] = [];
  let current: { abort: AbortController; done: Promise<void> } | undefined;
  let closed = false;

  const startNext = (): void => {
    const turn = waiting.shift();
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

  return {
    id,
    events,
    async send(turn: Turn, { when }: { when: When }): Promise<Sent> {
      if (closed) return 'queued';
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
    async close() {
      closed = true;
      const unstarted = waiting.splice(0);
      await cancel();
      unstarted.forEach(() => events.push(CANCELLED));
      events.end();
    },
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
    return {
      type: 'turnEnd',
      reason: 'failed',
      text: '',
      error: error instanceof Error ? error.message : String(error),
    };
  }
}
