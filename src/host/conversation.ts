import type { AgentEvent, AgentSession, Permission, Turn } from '../agents/agent.ts';
import type { Usage } from '../core/usage.ts';
import type { Transcript } from './transcript.ts';

/** How a turn ended. */
export type TurnEnd = Extract<AgentEvent, { type: 'turnEnd' }>;

/** What is done with what a session tells besides the ends of turns. */
export interface Hearing {
  shown(messageIds: readonly string[]): Promise<void>;
  usage(usage: Usage): Promise<void>;
  permission(permission: Permission): void;
  failed(error: unknown): void;
}

/** A session as a teammate uses it: one turn after another, everything it tells written down first. */
export interface Conversation {
  readonly sessionId: string;
  /** Does a turn to its end. */
  turn(turn: Turn): Promise<TurnEnd>;
  /** Adds to the running turn where the agent can take it. */
  steer(turn: Turn): Promise<void>;
  cancel(): Promise<void>;
  close(): Promise<void>;
  /** Resolves when the session is over, however that came. */
  readonly over: Promise<void>;
}

/** Starts to listen to a session. */
export function converse(session: AgentSession, transcript: Transcript, hearing: Hearing): Conversation {
  let ended: PromiseWithResolvers<TurnEnd> | undefined;
  const over = listen().then(() =>
    ended?.resolve({ type: 'turnEnd', reason: 'failed', text: '', error: 'the agent ended' }),
  );

  async function listen(): Promise<void> {
    for await (const event of session.events) {
      try {
        await hear(event);
      } catch (error) {
        hearing.failed(error);
      }
    }
  }

  async function hear(event: AgentEvent): Promise<void> {
    const at = Date.now();
    if (event.type === 'permission') {
      transcript.write({ at, type: 'permission', tool: event.tool, description: event.description });
      hearing.permission(event);
      return;
    }
    transcript.write({ at, ...event });
    if (event.type === 'shown') await hearing.shown(event.messageIds);
    else if (event.type === 'usage') await hearing.usage(event.usage);
    else if (event.type === 'turnEnd') ended?.resolve(event);
  }

  return {
    sessionId: session.id,
    over,
    async turn(turn) {
      ended = Promise.withResolvers<TurnEnd>();
      transcript.turn(turn);
      await session.send(turn, { when: 'next' });
      const end = await ended.promise;
      ended = undefined;
      return end;
    },
    async steer(turn) {
      transcript.turn(turn);
      await session.send(turn, { when: 'steer' });
    },
    cancel: () => session.cancel(),
    close: () => session.close(),
  };
}
