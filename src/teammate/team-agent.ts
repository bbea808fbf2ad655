import { randomUUID } from 'node:crypto';
import type { Agent, AgentEvent, Turn, TurnEnd } from '../agents/agent.ts';
import { OWN_AGENTS } from '../agents/catalog.ts';
import { turnByTurn } from '../agents/turns.ts';
import { PROMPT_BYTES } from '../core/limits.ts';
import { cutToBytes } from '../core/text.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';

/** How long one call waits for news; the daemon counts the member as gone a while after the last. */
const FOLLOW_MS = 60_000;

/** A member that is a team. The daemon runs that team; this only asks for it, follows it and passes its answer on. */
export function teamAgent(door: Pick<Door, 'call'>): Agent {
  return {
    kind: 'team',
    abilities: OWN_AGENTS.team,
    takesAllMail: true,
    async start({ teamId, memberId, resume }) {
      let taskId: string | undefined;
      let shown: (messageIds: string[]) => void = () => {};
      const session = turnByTurn(
        resume ?? randomUUID(),
        async (turn, emit, signal) => {
          if (!turn.task) return failed(`${memberId} is a team, which works on tasks only`);
          taskId = turn.task.id;
          shown = (messageIds) => emit({ type: 'shown', messageIds });
          const held = { teamId, taskId };
          const rest = (): void => void door.call('inner.rest', held).catch(ignoreOver);
          try {
            const text = cutToBytes(turn.text, PROMPT_BYTES);
            await door.call('inner.begin', { ...held, turn: randomUUID(), text });
            return await follow(door, held, { turn, emit, signal });
          } finally {
            // It goes on from where it is, with the next turn.
            if (signal.aborted) rest();
          }
        },
        {
          async steer({ messages }) {
            if (taskId === undefined || messages.length === 0) return false;
            const messageIds = messages.map(({ id }) => id);
            await door.call('inner.tell', { teamId, taskId, messageIds });
            shown(messageIds);
            return true;
          },
        },
      );
      return session;
    },
  };
}

interface Following {
  readonly turn: Turn;
  readonly emit: (event: AgentEvent) => void;
  readonly signal: AbortSignal;
}

async function follow(
  door: Pick<Door, 'call'>,
  held: { readonly teamId: string; readonly taskId: string },
  { turn, emit, signal }: Following,
): Promise<TurnEnd> {
  emit({ type: 'shown', messageIds: turn.messages.map(({ id }) => id) });
  const cancelled = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
  });
  let after = 0;
  let waiting: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const asked = door.call('inner.follow', {
      ...held,
      after,
      wait: FOLLOW_MS,
      ...(waiting !== undefined && { waiting }),
    });
    const progress = await Promise.race([asked, cancelled]);
    for (const line of progress.lines) emit({ type: 'text', text: line });
    // Every other event ends a wait.
    const isNews = progress.lines.length > 0 || progress.waiting !== waiting;
    if (progress.waiting !== undefined && isNews) emit({ type: 'waiting', reason: progress.waiting });
    else if (waiting !== undefined && isNews) emit({ type: 'text', text: 'The team goes on.' });
    ({ seq: after, waiting } = { waiting: undefined, ...progress });
    if (progress.state === 'done') return { type: 'turnEnd', reason: 'done', text: progress.text ?? '' };
    if (progress.state === 'failed') return failed(progress.text ?? 'its team failed');
  }
}

function failed(error: string): TurnEnd {
  return { type: 'turnEnd', reason: 'failed', text: '', error };
}

/** The task may be over by now, or the team; then its daemon has ended the team. */
function ignoreOver(error: unknown): void {
  if (codeOf(error) === undefined) throw error;
}
