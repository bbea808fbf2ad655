import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';

/** Where a member works, and what it has not handed in. */
export interface MemberWork {
  readonly shown: ResultOf<'work.show'> | undefined;
  readonly failure: Failure | undefined;
}

/** Saves are no events, so they are asked for. The daemon makes one every 30 seconds. */
const PERIOD_MS = 15_000;

/** Keeps the work of a member up to date while it is shown. */
export function useWork(teamId: string, memberId: string): MemberWork {
  const [work, setWork] = useState<MemberWork>({ shown: undefined, failure: undefined });
  // What changes when a task is begun or its work lands.
  const tip = useTeam(({ view }) => view.team?.work?.tip);
  const held = useTeam(({ view }) => view.held.get(memberId)?.work?.base);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const read = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const shown = await call('work.show', { teamId, memberId }, { signal });
        if (!signal.aborted) setWork({ shown, failure: undefined });
      } catch (error) {
        if (!signal.aborted) setWork((before) => ({ ...before, failure: failureOf(error) }));
      }
    };
    void read();
    const timer = setInterval(() => void read(), PERIOD_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [teamId, memberId, tip, held]);
  return work;
}
