import type { Agent, AgentEvent, Turn } from './agent.ts';
import { OWN_AGENTS } from './catalog.ts';
import { turnByTurn } from './turns.ts';

/** What a function that acts as an agent can use during a turn. */
export interface FunctionContext {
  readonly teamId: string;
  readonly memberId: string;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
  /** Reports an event. */
  readonly emit: (event: AgentEvent) => void;
}

/** Does one turn and returns its result; an exception is a failure. */
export type AgentFunction = (turn: Turn, context: FunctionContext) => Promise<string> | string;

/** An agent that is a function in this process: for library users, and for tests that need no program. */
export function functionAgent(run: AgentFunction): Agent {
  return {
    kind: 'function',
    abilities: OWN_AGENTS.function,
    async start({ teamId, memberId, resume }) {
      return turnByTurn(resume ?? crypto.randomUUID(), async (turn, emit, signal) => {
        const cancelled = new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
        });
        const text = await Promise.race([run(turn, { teamId, memberId, signal, emit }), cancelled]);
        emit({ type: 'shown', messageIds: turn.messages.map((message) => message.id) });
        return { type: 'turnEnd', reason: 'done', text };
      });
    },
  };
}
