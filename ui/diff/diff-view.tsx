import { Columns2, FileDiff, Files, Rows3 } from 'lucide-react';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { RefObject } from 'react';
import { DiffStore } from '../data/diff-store.ts';
import type { AskedFiles } from '../data/diff-store.ts';
import { Empty } from '../parts/empty.tsx';
import { FailureNote } from '../parts/failure.tsx';
import { plural } from '../parts/format.ts';
import { useKeys } from '../parts/keys.ts';
import { useNarrow } from '../parts/narrow.ts';
import type { Subject } from './asked.ts';
import { Colours } from './colours.ts';
import { FileList } from './file-list.tsx';
import { LineList } from './line-list.tsx';
import type { LineListHandle } from './line-list.tsx';
import { modelMaker } from './model.ts';
import type { Choice } from './model.ts';
import type { Layout } from './rows.ts';
import './diff.css';

/** A difference that somebody reads. What lands meanwhile does not replace it; `reload` does. */
export function useDiff(teamId: string, subject: Subject) {
  const [shown, setShown] = useState({ subject, round: 0 });
  const isNewer = shown.subject.key !== subject.key;
  const reload = (): void => setShown({ subject, round: shown.round + 1 });
  const isOpen = shown.subject.asked !== undefined;
  useEffect(() => {
    // Before, there was nothing to read.
    if (isNewer && !isOpen) reload();
  }, [isNewer, isOpen]);
  return { shown, isOpen, isNewer, reload, store: useStoreOf(teamId, shown.subject.asked, shown.round) };
}

/** Reads a difference while the page is shown. */
function useStoreOf(teamId: string, asked: AskedFiles | undefined, round: number): DiffStore | undefined {
  const [store, setStore] = useState<DiffStore>();
  useEffect(() => {
    if (!asked) return undefined;
    const next = new DiffStore(teamId, asked);
    setStore(next);
    return () => next.close();
  }, [teamId, JSON.stringify(asked), round]);
  useSyncExternalStore(store?.subscribe ?? never, () => store?.version);
  return store;
}

function never(): () => void {
  return () => undefined;
}

/** The files and lines of a difference. In a sheet there is one column of code, and keys are for the page around it. */
export function DiffView({
  store,
  list,
  isInSheet = false,
  first,
}: {
  store: DiffStore;
  list: RefObject<LineListHandle | null>;
  isInSheet?: boolean;
  /** The path of the file to begin with. */
  first?: string | undefined;
}) {
  const isNarrow = useNarrow() || isInSheet;
  const [chosen, setChosen] = useState<Layout>(readLayout);
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [current, setCurrent] = useState(0);
  const [isListOpen, setListOpen] = useState(false);
  // Two columns of code do not fit on a phone.
  const layout = isNarrow ? 'unified' : chosen;
  const make = useMemo(() => modelMaker(), []);
  const colours = useMemo(() => new Colours(), []);
  useEffect(() => () => colours.close(), [colours]);
  const model = useMemo(() => make(store, layout, choices), [store, store.version, layout, choices]);
  const choose = (path: string, choice: Choice): void =>
    setChoices((before) => new Map(before).set(path, { ...before.get(path), ...choice }));
  const setLayout = (next: Layout): void => {
    localStorage.setItem('diff', next);
    setChosen(next);
  };
  const show = (index: number): void => {
    list.current?.showFile(Math.max(0, Math.min(model.files.length - 1, index)));
    setListOpen(false);
  };
  const keys = {
    j: () => show(current + 1),
    k: () => show(current - 1),
    n: () => list.current?.stepHunk(1),
    p: () => list.current?.stepHunk(-1),
    u: () => setLayout('unified'),
    s: () => setLayout('split'),
    c: () => list.current?.pickLine(),
    o: () => {
      const file = model.files[current];
      if (file) choose(file.change.path, { isFolded: file.rows.length > 1 });
    },
    ...(isListOpen && { Escape: () => setListOpen(false) }),
  };
  useKeys(isInSheet ? {} : keys);
  const firstIndex = first === undefined ? -1 : store.changes.findIndex(({ path }) => path === first);
  useEffect(() => {
    if (firstIndex >= 0) show(firstIndex);
  }, [firstIndex]);
  if (store.failure) {
    return (
      <div className="diff-failed">
        <FailureNote failure={store.failure} />
      </div>
    );
  }
  if (!store.head) return <div className="diff-body" aria-busy />;
  if (store.isListed && store.changes.length === 0) {
    return (
      <Empty icon={FileDiff} title="No changes">
        <p>Nothing differs from the commit that this work began from.</p>
      </Empty>
    );
  }
  return (
    <div className={`diff-body${isListOpen ? ' is-listed' : ''}`}>
      <div className="diff-tools">
        <button
          type="button"
          className="button diff-list-button"
          aria-expanded={isListOpen}
          onClick={() => setListOpen(!isListOpen)}
        >
          <Files size={15} aria-hidden /> {current + 1} of {plural(store.changes.length, 'file')}
        </button>
        {!isInSheet && (
          <div className="switch" role="group" aria-label="Layout">
            <button type="button" aria-pressed={layout === 'unified'} onClick={() => setLayout('unified')}>
              <Rows3 size={15} aria-hidden /> Unified
            </button>
            <button type="button" aria-pressed={layout === 'split'} onClick={() => setLayout('split')}>
              <Columns2 size={15} aria-hidden /> Side by side
            </button>
          </div>
        )}
      </div>
      <FileList changes={store.changes} current={current} onShow={show} hasKeys={!isInSheet} />
      <LineList
        store={store}
        model={model}
        layout={layout}
        colours={colours}
        onChoose={choose}
        onFile={setCurrent}
        handle={list}
      />
    </div>
  );
}

function readLayout(): Layout {
  return localStorage.getItem('diff') === 'unified' ? 'unified' : 'split';
}
