import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';

/** What a search found. */
export type Findings = ResultOf<'team.search'>;
export type Finding = Findings['hits'][number];

/** Long enough for the next letter of a word. */
const PAUSE_MS = 200;

/** Searches everything on the daemon, a moment after the last change of the text. */
export function useEverything(text: string, teamId: string | undefined, limit: number) {
  const [state, setState] = useState<{ key: string; findings?: Findings; failure?: Failure }>();
  const wanted = text.trim();
  const key = JSON.stringify([wanted, teamId, limit]);
  useEffect(() => {
    if (wanted === '') return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const asked = { text: wanted.slice(0, 200), limit, ...(teamId !== undefined && { teamId }) };
      call('team.search', asked, { signal: stop.signal }).then(
        (findings) => setState({ key, findings }),
        (error: unknown) => {
          if (!stop.signal.aborted) setState({ key, failure: failureOf(error) });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  if (wanted === '') return { isBusy: false, findings: undefined, failure: undefined };
  // The last findings stay until the next ones are there.
  return { isBusy: state?.key !== key, findings: state?.findings, failure: state?.failure };
}
