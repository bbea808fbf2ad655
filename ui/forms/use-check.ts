import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';

/** What the daemon says about a team file before it is used. */
export type Found = ResultOf<'team.check'>;

/** What is known about a file: for which text, and what was found or why it cannot be used. */
export interface Check {
  readonly source: string;
  readonly found?: Found;
  readonly failure?: Failure;
}

const PAUSE_MS = 500;

/** Checks a team file a moment after it was changed, with the same checks as `troupe up`. */
export function useCheck(source: string | undefined, folder: string): Check | undefined {
  const [check, setCheck] = useState<Check>();
  useEffect(() => {
    setCheck(undefined);
    if (source === undefined || folder === '') return undefined;
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      try {
        const found = await call('team.check', { source, folder }, { signal: stop.signal });
        setCheck({ source, found: { ...found, unrunnable: found.unrunnable?.map(withoutPlace) } });
      } catch (error) {
        if (!stop.signal.aborted) setCheck({ source, failure: withoutPlaces(failureOf(error)) });
      }
    };
    const timer = setTimeout(() => void run(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [source, folder]);
  return check;
}

/** Of a file that was made from a form, nobody knows the lines. */
function withoutPlace(text: string): string {
  return text.replace(/^troupe\.yaml(?::\d+)*(?: \(and [^)]*\))?: /, '');
}

function withoutPlaces(failure: Failure): Failure {
  return { ...failure, message: failure.message.split('\n').map(withoutPlace).join('\n') };
}
