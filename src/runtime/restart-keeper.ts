import { SYSTEM, USER } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SessionManager } from './sessions.ts';

/**
 * Restarts a member that crashed too often, after a person approved; it resumes its session if possible. If the restart
 * fails, the person is asked again, with the reason: otherwise nobody would learn that the approval had no effect.
 */
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
    // Another daemon on the same journal, or `troupe up`, may have been faster.
    const isBack = await ledger.view(teamId, ({ members }) => members.get(memberId)?.status !== 'stopped');
    if (isBack) return;
    try {
      await sessions.restartSession(teamId, memberId, USER);
    } catch (error) {
      if (!(error instanceof TeamError)) throw error;
      if (!['exists', 'team_closed'].includes(error.code)) await askAgain(teamId, memberId, error.message);
    }
  }

  async function askAgain(teamId: string, memberId: string, why: string): Promise<void> {
    const content = `${memberId} could not be restarted: ${why}. It stays stopped. Fix the cause, then say yes to try again.`;
    const raise = { type: 'request.raise', by: SYSTEM, kind: 'restart', memberId, content } as const;
    await ledger.execute(teamId, raise, () => undefined);
  }
}
