import { useEffect, useState } from 'react';
import { call } from '../data/daemon.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import type { Entry } from './steps.ts';

export interface TranscriptShown {
  readonly entries: readonly Entry[];
  readonly isLoaded: boolean;
  readonly failure: Failure | undefined;
}

const WAIT_MS = 20_000;
/** How many entries are kept; older ones are dropped. The page shows the present, the file has everything. */
const KEPT = 4_000;

/** A member's transcript, followed while it is shown. */
export function useTranscript(teamId: string, memberId: string): TranscriptShown {
  const [shown, setShown] = useState<TranscriptShown>({ entries: [], isLoaded: false, failure: undefined });
  useEffect(() => {
    const stop = new AbortController();
    void follow(teamId, memberId, stop.signal, setShown);
    return () => stop.abort();
  }, [teamId, memberId]);
  return shown;
}

async function follow(
  teamId: string,
  memberId: string,
  signal: AbortSignal,
  show: (shown: TranscriptShown) => void,
): Promise<void> {
  let entries: readonly Entry[] = [];
  let session: string | null = null;
  let after = 0;
  let isFirst = true;
  while (!signal.aborted) {
    try {
      const page = await call(
        'transcript.read',
        isFirst ? { teamId, memberId, tail: true } : { teamId, memberId, after, wait: WAIT_MS },
        { signal },
      );
      // A restarted member writes a new transcript, which is read from its beginning.
      const isOther = session !== null && page.session !== session;
      session = page.session;
      if (isOther) {
        after = 0;
        entries = [];
        isFirst = true;
        continue;
      }
      ({ after } = page);
      if (isFirst || page.entries.length > 0) {
        entries = [...entries, ...page.entries].slice(-KEPT);
        show({ entries, isLoaded: true, failure: undefined });
      }
      isFirst = false;
    } catch (error) {
      if (signal.aborted) return;
      show({ entries, isLoaded: true, failure: failureOf(error) });
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
}
