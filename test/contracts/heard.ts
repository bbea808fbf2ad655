import { onTestFinished } from 'vitest';
import type { AgentEvent, AgentSession, Permission } from '../../src/agents/agent.ts';
import { until } from '../until.ts';

export type TurnEnd = Extract<AgentEvent, { type: 'turnEnd' }>;

/** A session whose events are recorded. */
export interface Heard extends Omit<AgentSession, 'events'> {
  readonly events: readonly AgentEvent[];
  /** Resolves when the events have ended. */
  readonly over: Promise<void>;
  ends(): TurnEnd[];
  /** Resolves with the n-th end of a turn. */
  end(n: number): Promise<TurnEnd>;
  /** Resolves when the agent's text has contained `text` this many times. */
  heardText(text: string, times?: number): Promise<void>;
  /** Resolves with the next permission request that was not returned before. */
  heardPermission(): Promise<Permission>;
  /** The same session, with a record that begins now. */
  fromNow(): Heard;
}

/** Records a session, and closes it when the test ends. */
export function hear(session: AgentSession): Heard {
  const heard = listen(session);
  onTestFinished(async () => {
    await session.close();
    await heard.over;
  });
  return heard;
}

/** Records a session that the caller closes. */
export function listen(session: AgentSession): Heard {
  const listeners = new Set<(event: AgentEvent) => void>();
  let isOver = false;
  const over = (async () => {
    for await (const event of session.events) for (const tell of listeners) tell(event);
    isOver = true;
  })();
  const listener = (): Heard => {
    const events: AgentEvent[] = [];
    const ended: TurnEnd[] = [];
    const asked: Permission[] = [];
    listeners.add((event) => {
      events.push(event);
      if (event.type === 'turnEnd') ended.push(event);
      if (event.type === 'permission') asked.push(event);
    });
    const untilHeard = <T>(what: string, find: () => T | undefined): Promise<T> => {
      const fail = (why: string): Error =>
        new Error(`Never heard ${what}, ${why}: ${JSON.stringify(events).slice(0, 2_000)}`);
      return until(what, () => {
        // Read this before `find`, so that the last event is not missed.
        const wasOver = isOver;
        const found = find();
        if (found === undefined && wasOver) throw fail('and the session is over');
        return found;
      }).catch((error: unknown) => {
        throw isOver ? error : fail('though it was waited for');
      });
    };
    return {
      id: session.id,
      events,
      over,
      ends: () => ended,
      end: (n) => untilHeard(`end ${n}`, () => ended[n - 1]),
      // A model's text arrives in chunks that may split a word.
      heardText: (text, times = 1) =>
        untilHeard(text, () => {
          const said = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
          return said.split(text).length > times ? true : undefined;
        }).then(() => undefined),
      heardPermission: () => untilHeard('a permission', () => asked.shift()),
      fromNow: listener,
      send: (turn, options) => session.send(turn, options),
      cancel: () => session.cancel(),
      ...(session.askToStop && {
        askToStop: async (reason) => (await session.askToStop?.(reason)) ?? { agreed: true },
      }),
      close: () => session.close(),
    };
  };
  return listener();
}
