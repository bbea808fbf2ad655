import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import type { LogStore } from './log-store.ts';

/** A place where a text was found. */
export type Hit = ResultOf<'transcript.search'>['hits'][number];

/** What a search found so far. */
export interface Search {
  readonly hits: readonly Hit[];
  readonly isOver: boolean;
  /** There are more, which were not looked for. */
  readonly isFull: boolean;
  readonly failure: Failure | undefined;
}

const MOST_HITS = 500;
const PAUSE_MS = 250;
const NOTHING: Search = { hits: [], isOver: false, isFull: false, failure: undefined };

/** Searches a whole log on the daemon, part by part, while the text stays the same. */
export function useSearch({ teamId, memberId, range }: LogStore, text: string): Search {
  const [search, setSearch] = useState(NOTHING);
  useEffect(() => {
    setSearch(NOTHING);
    if (text === '') return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => void run(), PAUSE_MS);
    const run = async (): Promise<void> => {
      const hits: Hit[] = [];
      let next: ResultOf<'transcript.search'>['next'];
      try {
        do {
          const asked = { teamId, memberId, text, ...range, ...next };
          const found = await call('transcript.search', asked, { signal: stop.signal });
          if (stop.signal.aborted) return;
          hits.push(...found.hits);
          ({ next } = found);
          const isFull = next !== undefined && hits.length >= MOST_HITS;
          setSearch({ hits: [...hits], isOver: next === undefined || isFull, isFull, failure: undefined });
          if (isFull) return;
        } while (next);
      } catch (error) {
        if (!stop.signal.aborted) setSearch({ hits, isOver: true, isFull: false, failure: failureOf(error) });
      }
    };
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [teamId, memberId, range, text]);
  return search;
}
