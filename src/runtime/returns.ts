import { SYSTEM } from '../core/actor.ts';
import { rejoinInput } from '../core/rejoin.ts';
import type { MemberRecord } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Steps } from './steps.ts';

/** Members that died and wait for their restart, by team and member. */
export interface Returns {
  has(key: string): boolean;
  /** Adds the same member again later, with the session that it can resume. */
  add(teamId: string, member: MemberRecord, ms: number): void;
}

/** Nobody waits yet. */
export function openReturns(ledger: Ledger, steps: Steps): Returns {
  const waiting = new Set<string>();

  async function rejoin(teamId: string, member: MemberRecord): Promise<void> {
    // Meanwhile a person may have stopped it for good, or started it.
    const isWaiting = await ledger.view(teamId, ({ team, members }) => {
      const now = members.get(member.id);
      return team?.status !== 'cleaned-up' && now?.status === 'stopped' && now.returning === true;
    });
    if (!isWaiting) return;
    await ledger.execute(teamId, { type: 'member.join', by: SYSTEM, ...rejoinInput(member) }, () => undefined);
  }

  return {
    has: (key) => waiting.has(key),
    add(teamId, member, ms) {
      const key = `${teamId}/${member.id}`;
      // A member found dead when the daemon came back is already waiting, and would be restarted twice.
      if (waiting.has(key)) return;
      waiting.add(key);
      steps.later(ms, { teamId, memberId: member.id }, () => rejoin(teamId, member).finally(() => waiting.delete(key)));
    },
  };
}
