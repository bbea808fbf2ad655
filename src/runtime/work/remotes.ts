import { backOff } from '../../core/back-off.ts';
import { TeamError } from '../../core/errors.ts';
import type { DepotRemote } from '../../workspaces/remote.ts';
import type { TeamPlace } from './team-places.ts';

/** Between tries to reach a remote that could not be reached. Milliseconds. */
const PAUSES = { least: 1_000, most: 60_000 };

interface Outage {
  readonly failures: number;
  readonly until: number;
  readonly error: TeamError;
}

/** Commits for or from a remote. */
interface Wanted {
  readonly want: readonly string[];
  readonly isFirst?: boolean;
  /** The remote, as the journal names it. */
  readonly name: string;
}

/** The git remotes by which the work of teams travels. One that cannot be reached is tried again, less and less often. */
export function openRemotes() {
  const outages = new Map<string, Outage>();
  /** Large files that could not come or go along, by team. */
  const left = new Map<string, readonly string[]>();

  return {
    /** Makes commits available at the remote of a team. Fails with `storage`. */
    push(teamId: string, place: TeamPlace, { want, have }: { want: readonly string[]; have: readonly string[] }) {
      const { name = '' } = place.work.remote ?? {};
      return unlessAway(teamId, 'push', () => open(teamId, place, name).push(want, have));
    },

    /** Takes commits in from a remote; returns why not. */
    async tryToFetch(teamId: string, place: TeamPlace, wanted: Wanted): Promise<TeamError | undefined> {
      const { want, isFirst = false, name } = wanted;
      try {
        await unlessAway(teamId, 'fetch', () => open(teamId, place, name).fetch(want, { isFirst }));
        return undefined;
      } catch (error) {
        if (error instanceof TeamError) return error;
        throw error;
      }
    },

    open,

    /** Why the remote of a team cannot be used as it should; undefined if it can. */
    problemOf(teamId: string): string | undefined {
      const errors = ['push', 'fetch'].flatMap((what) => outages.get(`${teamId}/${what}`)?.error.message ?? []);
      return errors[0] ?? left.get(teamId)?.[0];
    },

    forget(teamId: string): void {
      for (const what of ['push', 'fetch']) outages.delete(`${teamId}/${what}`);
      left.delete(teamId);
    },
  };

  /** A remote that is no longer the team's is known by its name alone. */
  function open(teamId: string, { depot, checkout, work }: TeamPlace, name: string): DepotRemote {
    const remote = work.remote?.name === name ? work.remote : { name };
    return depot.remote({ checkout, remote, team: teamId, base: work.base });
  }

  async function unlessAway(
    teamId: string,
    what: 'push' | 'fetch',
    work: () => Promise<readonly string[]>,
  ): Promise<void> {
    const key = `${teamId}/${what}`;
    const before = outages.get(key);
    if (before && before.until > Date.now()) throw before.error;
    try {
      const missing = await work();
      if (missing.length > 0) left.set(teamId, missing);
      outages.delete(key);
    } catch (error) {
      // It was reached, and does not have a commit, or has a bad one.
      const isReached = error instanceof TeamError && error.code !== 'storage';
      if (isReached || !(error instanceof TeamError)) outages.delete(key);
      else {
        const failures = (before?.failures ?? 0) + 1;
        outages.set(key, { failures, until: Date.now() + backOff(failures, PAUSES), error });
      }
      throw error;
    }
  }
}

export type Remotes = ReturnType<typeof openRemotes>;
