import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { call } from '../data/daemon.ts';
import { FailureNote } from '../parts/failure.tsx';
import { reveal, useHighlight } from './highlight.ts';
import type { LogStore } from './log-store.ts';
import { TextReader } from './long-text.tsx';
import type { ReadText } from './long-text.tsx';
import { SearchBar } from './search-bar.tsx';
import { StepView } from './step-view.tsx';
import { arrange } from './steps.ts';
import type { Step } from './steps.ts';
import { useSearch } from './use-search.ts';
import './log.css';

const NEAR_END = 60;
/** The next page is asked for when so much is left to scroll. */
const NEAR_PAGE = 600;

type End = 'begin' | 'end';

/** Where a log opens: at its beginning, at its end, or at an entry. */
export type Opening = End | { readonly session: string; readonly place: number };

/**
 * What a member did and was told: the whole of it is reached by scrolling, and by a search on the daemon. At the end it
 * follows the present, until the person scrolls up.
 */
export function Log({
  store,
  opening,
  name,
  empty,
}: {
  store: LogStore;
  opening: Opening;
  name: string;
  /** What is shown if there is no entry. */
  empty: ReactNode;
}) {
  const { entries, isLoaded, hasBefore, hasAfter, failure } = useSyncExternalStore(store.subscribe, store.shown);
  const { steps, stepOf } = useMemo(() => arrange(entries), [entries]);
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(opening === 'end');
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState('');
  const [current, setCurrent] = useState<number>();
  const search = useSearch(store, text);
  const anchor = useRef<{ key: string; offset: number }>(undefined);
  /** Where the person wants to go, until it is in sight: an end of the log, or the entry of a hit. */
  const [goal, setGoal] = useState<Opening>();
  const virtual = useVirtualizer({
    count: steps.length,
    getScrollElement: () => box.current,
    estimateSize: () => 72,
    overscan: 8,
    getItemKey: (i) => steps[i]?.key ?? i,
  });
  useEffect(() => (typeof opening === 'string' ? go(opening) : goToEntry(opening)), [store]);
  useEffect(() => {
    // An entry that cannot be read is not waited for.
    if (failure && typeof goal === 'object') setGoal(undefined);
  }, [failure, goal]);
  const toEnd = (): void => {
    if (steps.length > 0) virtual.scrollToIndex(steps.length - 1, { align: 'end' });
  };
  useLayoutEffect(() => {
    if (!isFollowing || goal !== undefined) return undefined;
    toEnd();
    // Once more after the new rows were measured.
    const frame = requestAnimationFrame(toEnd);
    return () => cancelAnimationFrame(frame);
  }, [steps, isFollowing, goal]);
  // What was in sight stays there when a page comes before it.
  useLayoutEffect(() => {
    const kept = anchor.current;
    if (!kept || isFollowing || goal !== undefined) return;
    const index = steps.findIndex(({ key }) => key === kept.key);
    const [start] = virtual.getOffsetForIndex(index, 'start') ?? [];
    if (index > 0 && start !== undefined) virtual.scrollToOffset(start + kept.offset);
  }, [steps]);
  useLayoutEffect(() => {
    if (goal === undefined || !isLoaded) return undefined;
    if (typeof goal === 'string') {
      if (goal === 'end' ? hasAfter : hasBefore) return undefined;
      setFollowing(goal === 'end');
      if (goal === 'begin') virtual.scrollToOffset(0);
      setGoal(undefined);
      return undefined;
    }
    const index = entries.findIndex(({ session, place }) => session === goal.session && place === goal.place);
    if (index < 0) return undefined;
    const step = stepOf[index] ?? 0;
    const key = steps[step]?.key;
    if (key !== undefined) setOpen((all) => new Set([...all, key]));
    const show = (): void => virtual.scrollToIndex(step, { align: 'start' });
    show();
    let frame = requestAnimationFrame(() => {
      show();
      frame = requestAnimationFrame(() => {
        if (key !== undefined) anchor.current = { key, offset: 0 };
        reveal(box.current?.querySelector(`[data-index="${step}"]`), text);
        setGoal(undefined);
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [goal, steps, isLoaded, hasAfter, hasBefore]);
  useHighlight(box, text);
  const load = (): void => {
    const { current: at } = box;
    if (!at || goal !== undefined) return;
    if (hasBefore && at.scrollTop < NEAR_PAGE) void store.loadBefore();
    else if (hasAfter && at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PAGE) void store.loadAfter();
  };
  // A short page does not fill the box, so nobody could scroll.
  useEffect(load, [steps, goal]);
  const showHit = (index: number): void => {
    const hit = search.hits[index];
    if (!hit) return;
    setCurrent(index);
    goToEntry(hit);
  };
  const goToEntry = (hit: { readonly session: string; readonly place: number }): void => {
    setFollowing(false);
    anchor.current = undefined;
    setGoal(hit);
    const isHere = entries.some(({ session, place }) => session === hit.session && place === hit.place);
    if (!isHere) void store.toPlace(hit.session, hit.place);
  };
  const step = (by: 1 | -1): void => {
    const { length } = search.hits;
    if (length > 0) showHit(((current ?? (by > 0 ? -1 : length)) + by + length) % length);
  };
  const go = (where: End): void => {
    anchor.current = undefined;
    setFollowing(false);
    setGoal(where);
    if (!isLoaded || (where === 'end' ? hasAfter : hasBefore)) {
      void (where === 'end' ? store.toEnd() : store.toBegin());
    }
  };
  const readText = useCallback<ReadText>(
    ({ session, place, path }, from) =>
      call('transcript.text', { teamId: store.teamId, memberId: store.memberId, session, place, path, from }),
    [store],
  );
  if (isLoaded && steps.length === 0 && !hasBefore && !hasAfter) {
    return (
      <>
        {empty}
        <FailureNote failure={failure} />
      </>
    );
  }
  return (
    <TextReader value={readText}>
      <div className="log" data-loaded={isLoaded}>
        <SearchBar
          name={name}
          text={text}
          search={search}
          current={current}
          onText={(value) => {
            setText(value);
            setCurrent(undefined);
          }}
          onStep={step}
          onBegin={() => go('begin')}
          onEnd={() => go('end')}
        />
        <div
          ref={box}
          className="log-scroll"
          role="log"
          aria-label={name}
          aria-live="off"
          tabIndex={0}
          onScroll={({ currentTarget: at }) => {
            const isAtEnd = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END;
            if (goal === undefined) setFollowing(isAtEnd && !hasAfter);
            const first = virtual.getVirtualItems().find(({ end }) => end > at.scrollTop);
            if (first) anchor.current = { key: String(first.key), offset: at.scrollTop - first.start };
            load();
          }}
        >
          <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            {virtual.getVirtualItems().map(({ index, key, start }) => (
              <div
                key={key}
                data-index={index}
                ref={virtual.measureElement}
                className="step-place"
                style={{ transform: `translateY(${start}px)` }}
              >
                <StepView
                  teamId={store.teamId}
                  step={steps[index] as Step}
                  fold={{
                    isOpen: open.has(String(key)),
                    onToggle: (isOpen) =>
                      setOpen((all) => {
                        const next = new Set(all);
                        if (isOpen) next.add(String(key));
                        else next.delete(String(key));
                        return next;
                      }),
                  }}
                />
              </div>
            ))}
          </div>
        </div>
        <FailureNote failure={failure} />
        {!isFollowing && isLoaded && goal === undefined && (
          <button type="button" className="button to-end" onClick={() => go('end')}>
            <ArrowDown size={15} aria-hidden /> To the end
          </button>
        )}
      </div>
    </TextReader>
  );
}
