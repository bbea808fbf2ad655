import { USER } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SessionManager } from './sessions.ts';

/** Starts a member again that crashed too often, when a person said so; what it could go on with it goes on with. */
export function keepRestarts(
  parts: { ledger: Ledger; sessions: SessionManager },
  onError: (error: unknown, teamId: string) => void,
): () => void {
  const { ledger, sessions } = parts;
  return ledger.subscribe((teamId, { events }, state) => {
    for (const event of events) {
      if (event.type !== 'request:answered' || !event.approved) continue;
      if (state.requests.get(event.requestId)?.kind !== 'restart') continue;
      restart(teamId, event.memberId).catch((error: unknown) => onError(error, teamId));
    }
  });

  async function restart(teamId: string, memberId: string): Promise<void> {
    // Another daemon of the same journal may have been faster, or a person who said `troupe up`.
    const isBack = await ledger.view(teamId, ({ members }) => members.get(memberId)?.status !== 'stopped');
    if (isBack) return;
    try {
      await sessions.restartSession(teamId, memberId, USER);
    } catch (error) {
      const isOver = error instanceof TeamError && ['exists', 'team_closed'].includes(error.code);
      if (!isOver) throw error;
    }
  }
}
