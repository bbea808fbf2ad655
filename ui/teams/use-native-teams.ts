import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';

/** One of Claude Code's own teams, or the task list of one of its sessions. */
export type NativeTeam = ResultOf<'native.list'>['teams'][number];

/** Claude Code's own teams, their directory, and which of them are synchronized with a team here. */
export interface NativeTeams {
  readonly root: string;
  readonly teams: readonly NativeTeam[];
  /** The team here, by the name of the native team. */
  readonly joined: ReadonlyMap<string, string>;
}

const WAIT_MS = 20_000;
const PAUSE_MS = 250;

/** Claude Code's own teams, followed while they are shown; undefined until the first answer. */
export function useNativeTeams(): NativeTeams | undefined {
  const [shown, setShown] = useState<NativeTeams>();
  useEffect(() => {
    const stop = new AbortController();
    void follow(stop.signal, setShown);
    return () => stop.abort();
  }, []);
  return shown;
}

async function follow(signal: AbortSignal, show: (teams: NativeTeams) => void): Promise<void> {
  for (let known: number | undefined; !signal.aborted;) {
    try {
      const list = await call('native.list', known === undefined ? {} : { known, wait: WAIT_MS }, { signal });
      const joined = await call('native.joined', {}, { signal });
      if (signal.aborted) return;
      known = list.lastEvent;
      show({
        root: list.root,
        teams: list.teams.toSorted((a, b) => (b.changedAt ?? '').localeCompare(a.changedAt ?? '')),
        joined: new Map(joined.map(({ native, teamId }) => [native, teamId])),
      });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    } catch {
      // The page itself shows that the daemon is unreachable.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
}
