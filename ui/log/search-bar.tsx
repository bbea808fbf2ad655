import { ArrowDownToLine, ArrowUpToLine, ChevronDown, ChevronUp, Search as SearchIcon } from 'lucide-react';
import { FailureNote } from '../parts/failure.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { record } from '../record/head.ts';
import type { Search } from './use-search.ts';

/** Finds a text in a whole log, and goes from hit to hit, to its beginning and to its end. */
export function SearchBar({
  name,
  text,
  search,
  current,
  onText,
  onStep,
  onBegin,
  onEnd,
}: {
  name: string;
  text: string;
  search: Search;
  /** The index of the hit that is shown. */
  current: number | undefined;
  onText: (text: string) => void;
  onStep: (by: 1 | -1) => void;
  onBegin: () => void;
  onEnd: () => void;
}) {
  const { hits, isOver, isFull, failure } = search;
  const count = `${hits.length}${isFull ? '+' : ''}`;
  const place = current === undefined ? count : `${current + 1} of ${count}`;
  return (
    <div className="log-bar" role="search" aria-label={`Find in: ${name}`}>
      {!record && (
        <label className="log-find">
          <SearchIcon size={14} aria-hidden />
          <input
            className="input"
            type="search"
            placeholder="Find in the whole log"
            aria-label={`Find in: ${name}`}
            value={text}
            onChange={(event) => onText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1);
              if (event.key === 'Escape' && text !== '') {
                event.preventDefault();
                event.stopPropagation();
                onText('');
              }
            }}
          />
        </label>
      )}
      {text !== '' && (
        <span className="meta log-hits" role="status">
          {hits.length > 0 ? place : isOver ? 'nothing found' : 'searching…'}
        </span>
      )}
      {hits.length > 0 && (
        <>
          <IconButton className="small" label="Previous match" onClick={() => onStep(-1)}>
            <ChevronUp size={16} aria-hidden />
          </IconButton>
          <IconButton className="small" label="Next match" onClick={() => onStep(1)}>
            <ChevronDown size={16} aria-hidden />
          </IconButton>
        </>
      )}
      <span className="spacer" />
      <IconButton className="small" label="To the beginning" onClick={onBegin}>
        <ArrowUpToLine size={16} aria-hidden />
      </IconButton>
      <IconButton className="small" label="To the last entry" onClick={onEnd}>
        <ArrowDownToLine size={16} aria-hidden />
      </IconButton>
      <FailureNote failure={failure} />
    </div>
  );
}
