import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import type { Change } from '../data/diff-store.ts';
import { showControls } from '../parts/controls.ts';
import { plural } from '../parts/format.ts';
import { useKeys } from '../parts/keys.ts';
import { SearchField } from '../parts/search-field.tsx';
import { ChangeIcon, Counts, splitPath } from './file-words.tsx';

const COARSE = matchMedia('(pointer: coarse)');

/** The files that differ, with counts. One is current; arrow keys move among them. */
export function FileList({
  changes,
  current,
  onShow,
  hasKeys = true,
}: {
  changes: readonly Change[];
  current: number;
  onShow: (index: number) => void;
  /** Whether the page's keys are for this list. */
  hasKeys?: boolean;
}) {
  const [text, setText] = useState('');
  const search = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return changes
      .map((change, index) => ({ change, index }))
      .filter(({ change }) => `${change.previous ?? ''}\n${change.path}`.toLowerCase().includes(wanted));
  }, [changes, text]);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => (COARSE.matches ? 44 : 32),
    overscan: 8,
  });
  useKeys(hasKeys ? { '/': () => search.current?.focus() } : {});
  const at = shown.findIndex(({ index }) => index === current);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at);
  }, [at]);
  const step = (event: KeyboardEvent<HTMLElement>): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = by === undefined ? undefined : shown[at + by];
    if (!next) return;
    event.preventDefault();
    onShow(next.index);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('[aria-current]')?.focus());
  };
  return (
    <nav className="diff-files" aria-label="Changed files">
      <SearchField
        ref={search}
        label="Filter files"
        placeholder="Filter"
        value={text}
        onText={setText}
        onClear={() => setText('')}
      >
        {hasKeys && <kbd>/</kbd>}
      </SearchField>
      {shown.length === 0 && <p className="quiet diff-none">No file matches the filter.</p>}
      <div className="diff-files-scroll" ref={box} tabIndex={-1}>
        <ul style={{ height: virtual.getTotalSize() }} aria-label={plural(shown.length, 'file')}>
          {virtual.getVirtualItems().map(({ index: place, key, start, size }) => {
            const one = shown[place];
            if (!one) return null;
            const [folder, name] = splitPath(one.change.path);
            const isCurrent = one.index === current;
            return (
              <li key={key} style={{ height: size, transform: `translateY(${start}px)` }}>
                <button
                  type="button"
                  aria-current={isCurrent || undefined}
                  tabIndex={isCurrent || (at < 0 && place === 0) ? 0 : -1}
                  title={showControls(one.change.path)}
                  onClick={() => onShow(one.index)}
                  onKeyDown={step}
                >
                  <ChangeIcon change={one.change} />
                  <span className="diff-name">
                    <bdi>{showControls(name)}</bdi>
                    <span className="quiet one-line">{showControls(folder)}</span>
                  </span>
                  <Counts added={one.change.added} removed={one.change.removed} />
                </button>
              </li>
            );
          })}
        </ul>
      </div>
    </nav>
  );
}
