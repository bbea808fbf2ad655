import type { ClaimKeeper } from '../ledger/claim-keeper.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HostedTeams } from './hosted/keeper.ts';
import { nativeNameOf } from './mirror/marks.ts';
import type { Mirror } from './mirror/mirror.ts';

/** The mirrors of all joined teams. */
export interface Mirrors {
  readonly open: Map<string, Mirror>;
  /** Opens the mirror of a team, if it is not open yet. */
  readonly begin: (teamId: string, native: string) => Promise<Mirror>;
  /** Every team that was joined before has its mirror. */
  started(): void;
  readonly claims: ClaimKeeper;
}

/** What the mirrors need. */
export interface MirrorsOptions {
  readonly ledger: Ledger;
  readonly openOne: (teamId: string, native: string) => Promise<Mirror>;
  /** Keeps the claims of teams that we lead. */
  readonly hosted: Pick<HostedTeams, 'keeps' | 'confirm'> | undefined;
  /** `started` is called later. */
  readonly starts: boolean;
}

/** Starts with no mirror. */
export function keepMirrors({ ledger, openOne, hosted, starts }: MirrorsOptions): Mirrors {
  const open = new Map<string, Mirror>();
  /** Two mirrors of one team would give each of its tasks two files. */
  const opening = new Map<string, Promise<Mirror>>();
  /** Claims that wait for the mirror of their team, by team. */
  const awaited = new Map<string, PromiseWithResolvers<void>>();
  let isStarted = !starts;
  const confirm = (...[teamId, task, memberId]: Parameters<ClaimKeeper['confirm']>): Promise<boolean> =>
    open.get(teamId)?.confirm(task, memberId) ?? hosted?.confirm(teamId, task, memberId) ?? Promise.resolve(true);
  return {
    open,
    async begin(teamId, native) {
      const present = open.get(teamId) ?? opening.get(teamId);
      if (present) return present;
      const mirror = openOne(teamId, native);
      opening.set(teamId, mirror);
      try {
        open.set(teamId, await mirror);
        return await mirror;
      } finally {
        opening.delete(teamId);
        awaited.get(teamId)?.resolve();
      }
    },
    started() {
      isStarted = true;
      for (const { resolve } of awaited.values()) resolve();
    },
    claims: {
      keeps: (teamId) => !isStarted || open.has(teamId) || hosted?.keeps(teamId) === true,
      async confirm(teamId, task, memberId) {
        if (isStarted || open.has(teamId)) return confirm(teamId, task, memberId);
        // Members that run reconnect while the daemon starts, and a native may have begun the task meanwhile.
        const wait = awaited.get(teamId) ?? Promise.withResolvers<void>();
        awaited.set(teamId, wait);
        const isJoined = (await ledger.view(teamId, nativeNameOf)) !== undefined;
        if (isJoined && !isStarted) await wait.promise;
        return confirm(teamId, task, memberId);
      },
    },
  };
}
