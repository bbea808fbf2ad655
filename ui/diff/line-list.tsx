import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useImperativeHandle, useRef, useState, useSyncExternalStore } from 'react';
import type { Ref } from 'react';
import type { DiffStore } from '../data/diff-store.ts';
import { isSame } from '../data/review-drafts.ts';
import type { LineName } from '../data/review-drafts.ts';
import { useAnchor } from './anchor.ts';
import type { Colours } from './colours.ts';
import { LineComments } from './line-comments.tsx';
import { fileAt, rowAt } from './model.ts';
import type { Choice, FileRows, Model } from './model.ts';
import { focusLine, nameLine, stepLine } from './reviewing.ts';
import { CHARACTER, estimateRow, FILE_HEIGHT, waitHeight } from './row-size.ts';
import { FileHead, HunkHead, LineRow, NoteRow, PairRow, WaitRow } from './row-view.tsx';
import { nameOf } from './rows.ts';
import type { Layout, Row } from './rows.ts';

/** Rows above and below the visible ones, so that a fast scroll does not show gaps. */
const OVERSCAN = 24;

/** What the page can ask of the list. */
export interface LineListHandle {
  /** Scrolls to the head of a file. */
  showFile(index: number): void;
  /** Scrolls to the next or previous group of changed lines. */
  stepHunk(by: 1 | -1): void;
  /** Moves the focus to a line that can be commented on. */
  pickLine(): void;
  /** Scrolls to a line, as a comment names it. */
  showLine(name: LineName): void;
}

/** The lines of all files in one list. Only the visible part is in the document. */
export function LineList({
  store,
  model,
  layout,
  colours,
  onChoose,
  onFile,
  handle,
}: {
  store: DiffStore;
  model: Model;
  layout: Layout;
  colours: Colours;
  onChoose: (path: string, choice: Choice) => void;
  /** Called with the index of the file that is read. */
  onFile: (index: number) => void;
  handle: Ref<LineListHandle>;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set());
  const columns = useColumns(box, layout);
  useSyncExternalStore(colours.subscribe, () => colours.version);
  const virtual = useVirtualizer({
    count: model.count,
    getScrollElement: () => box.current,
    estimateSize: (i) => estimateRow(rowAt(model, i)?.row, columns),
    overscan: OVERSCAN,
    getItemKey: (i) => keyOf(model, i),
    // The head of the file at the top stays in sight.
    rangeExtractor: (range) => {
      const head = model.files[fileAt(model, range.startIndex)]?.start ?? 0;
      return [...new Set([head, ...defaultRangeExtractor(range)])].sort((a, b) => a - b);
    },
  });
  const { startIndex = 0, endIndex = 0 } = virtual.range ?? {};
  const topFile = fileAt(model, startIndex);
  // The last files cannot be scrolled to the top: there the one that was asked for is current while it is in sight.
  const [target, setTarget] = useState<number>();
  const targetHead = target === undefined ? -1 : (model.files[target]?.start ?? -1);
  const current = target !== undefined && targetHead >= startIndex && targetHead <= endIndex ? target : topFile;
  useEffect(() => onFile(current), [current]);
  const release = (): void => setTarget(undefined);
  useAnchor(virtual, model, { head: targetHead, release });
  useImperativeHandle(handle, () => ({
    showFile(index) {
      setTarget(index);
      virtual.scrollToIndex(model.files[index]?.start ?? 0, { align: 'start' });
    },
    stepHunk(by) {
      release();
      for (let i = (virtual.range?.startIndex ?? 0) + by * 2; i >= 0 && i < model.count; i += by) {
        if (rowAt(model, i)?.row.kind !== 'hunk') continue;
        // Below the head of its file.
        return virtual.scrollToOffset((virtual.measurementsCache[i]?.start ?? 0) - FILE_HEIGHT);
      }
    },
    pickLine() {
      if (box.current) focusLine(box.current);
    },
    showLine(name) {
      const file = model.files.find(({ change }) => change.path === name.path);
      if (!file) return;
      release();
      const at = file.rows.findIndex((row) => namesIn(name.path, row).some((one) => isSame(one, name)));
      virtual.scrollToIndex(file.start + Math.max(0, at), { align: at < 0 ? 'start' : 'center' });
    },
  }));
  const items = virtual.getVirtualItems();
  useEffect(() => {
    // The last one wanted is read first: that is the one at the top.
    for (const { index } of items.toReversed()) {
      const found = rowAt(model, index);
      if (!found) continue;
      const { row, file } = found;
      if (row.kind === 'wait') store.want(file.change);
      const line = row.kind === 'line' ? row.line : row.kind === 'pair' ? (row.right ?? row.left) : undefined;
      if (line) colours.want(file.change.path, line);
      if (row.kind === 'pair' && row.left) colours.want(file.change.path, row.left);
    }
  });
  const head = model.files[topFile]?.start ?? 0;
  return (
    <div
      className="diff-scroll"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label="Changed lines"
      onWheel={release}
      onTouchMove={release}
      onPointerDown={release}
      onKeyDown={(event) => {
        release();
        if (box.current && stepLine(box.current, event.key)) event.preventDefault();
      }}
    >
      <div className={`diff-rows is-${layout}`} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const found = rowAt(model, index);
          if (!found) return null;
          const isHead = index === head;
          return (
            <div
              key={key}
              data-index={index}
              ref={virtual.measureElement}
              className={isHead ? 'diff-row is-top' : 'diff-row'}
              style={isHead ? undefined : { transform: `translateY(${start}px)` }}
            >
              <RowView {...found} store={store} colours={colours} whole={whole} onChoose={onChoose} onWhole={show} />
            </div>
          );
        })}
      </div>
    </div>
  );

  function show(id: string): void {
    setWhole((before) => new Set([...before, id]));
  }
}

function RowView({
  file: { change, rows },
  row,
  store,
  colours,
  whole,
  onChoose,
  onWhole,
}: {
  file: FileRows;
  row: Row;
  store: DiffStore;
  colours: Colours;
  whole: ReadonlySet<string>;
  onChoose: (path: string, choice: Choice) => void;
  onWhole: (id: string) => void;
}) {
  const { path } = change;
  const id = `${path} ${nameOf(row)}`;
  const look = { id, isWhole: whole.has(id), onWhole };
  switch (row.kind) {
    case 'file': {
      const isFolded = rows.length === 1;
      return <FileHead change={change} isFolded={isFolded} onFold={() => onChoose(path, { isFolded: !isFolded })} />;
    }
    case 'hunk':
      return <HunkHead hunk={row.hunk} />;
    case 'line':
      return (
        <>
          <LineRow path={path} line={row.line} tokens={colours.of(row.line)} {...look} />
          <LineComments names={namesIn(path, row)} />
        </>
      );
    case 'pair':
      return (
        <>
          <PairRow
            path={path}
            left={row.left}
            right={row.right}
            leftTokens={row.left && colours.of(row.left, 'old')}
            rightTokens={row.right && colours.of(row.right, 'fresh')}
            {...look}
          />
          <LineComments names={namesIn(path, row)} />
        </>
      );
    case 'wait':
      return <WaitRow lines={row.lines} height={waitHeight(row.lines)} />;
    case 'note': {
      const show = (): void => {
        onChoose(path, { isWanted: true });
        store.want(change, { whole: row.note !== 'long' });
      };
      return <NoteRow note={row.note} change={change} lines={store.linesOf(path)} onShow={show} />;
    }
  }
}

/** The lines of a row that comments can name. */
function namesIn(path: string, row: Row): readonly LineName[] {
  if (row.kind === 'line') return [nameLine(path, row.line)];
  if (row.kind !== 'pair') return [];
  const { left, right } = row;
  return [left?.sign === '-' ? left : undefined, right].flatMap((line) => (line ? nameLine(path, line) : []));
}

function keyOf(model: Model, index: number): string {
  const found = rowAt(model, index);
  // Rows are only added at the end of a file, so the place in it identifies a row while the layout stays.
  return found ? `${found.file.change.path} ${found.row.kind} ${index - found.file.start}` : String(index);
}

/** How many characters fit into a line of text. */
function useColumns(box: React.RefObject<HTMLDivElement | null>, layout: Layout): number {
  const [width, setWidth] = useState(1_000);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const sized = new ResizeObserver(() => setWidth(element.clientWidth));
    sized.observe(element);
    return () => sized.disconnect();
  }, []);
  // Numbers, signs and edges; a phone shows one number.
  const gutter = layout === 'split' ? 178 : width <= 640 ? 63 : 140;
  return Math.max(16, Math.floor((width - gutter) / (layout === 'split' ? 2 : 1) / CHARACTER));
}
