import { ArrowLeft, Columns2, FileDiff, Files, RefreshCw, Rows3 } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { RefObject } from 'react';
import { DiffStore } from '../data/diff-store.ts';
import type { AskedFiles } from '../data/diff-store.ts';
import { teamPath } from '../data/route.ts';
import { useMoment } from '../data/use-moment.ts';
import { useStore, useTeam } from '../data/use-team.tsx';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { plural, showMoment, showTime } from '../parts/format.ts';
import { useKeys } from '../parts/keys.ts';
import { Link } from '../parts/link.tsx';
import { useNarrow } from '../parts/narrow.ts';
import { FailedTeam } from '../team/failed-team.tsx';
import { isTask, subjectOf } from './asked.ts';
import type { Subject } from './asked.ts';
import { Colours } from './colours.ts';
import { FileList } from './file-list.tsx';
import { Counts } from './file-words.tsx';
import { LineList } from './line-list.tsx';
import type { LineListHandle } from './line-list.tsx';
import { modelMaker } from './model.ts';
import type { Choice } from './model.ts';
import { ReviewBar, useReview } from './review-bar.tsx';
import { Reviewing } from './reviewing.ts';
import type { Layout } from './rows.ts';
import './diff.css';

/** What a task, a member or the whole team changed, now or at an earlier moment. */
export function DiffPage({ teamId, of }: { teamId: string; of: string | undefined }) {
  const phase = useTeam(({ phase }) => phase);
  const at = useTeam(({ moment, history }) => (moment === undefined ? undefined : history[moment - 1]?.events[0]?.at));
  const subject = useTeam(
    ({ state }) => subjectOf(state, of, at),
    (a, b) => a.key === b.key && a.title === b.title && a.what === b.what,
  );
  useMoment();
  if (phase === 'failed') return <FailedTeam />;
  if (phase === 'loading') return <main id="main" aria-busy />;
  return <Shown key={`${at}`} teamId={teamId} of={of} at={at} subject={subject} />;
}

function Shown({
  teamId,
  of,
  at,
  subject,
}: {
  teamId: string;
  of: string | undefined;
  at: number | undefined;
  subject: Subject;
}) {
  const team = useStore();
  // What landed meanwhile does not replace what somebody reads; a button does.
  const [shown, setShown] = useState({ subject, round: 0 });
  const isNewer = shown.subject.key !== subject.key;
  const reload = (): void => setShown({ subject, round: shown.round + 1 });
  const isOpen = shown.subject.asked !== undefined;
  useEffect(() => {
    // Before, there was nothing to read.
    if (isNewer && !isOpen) reload();
  }, [isNewer, isOpen]);
  const store = useDiff(teamId, shown.subject.asked, shown.round);
  const { head } = store ?? {};
  const list = useRef<LineListHandle>(null);
  const review = useReview(teamId, at === undefined ? of : undefined, shown.subject.commit);
  const back =
    of === undefined ? teamPath(teamId) : teamPath(teamId, isTask(of) ? `/task/${of}` : `/m/${encodeURIComponent(of)}`);
  return (
    <main className={`diff-page${at === undefined ? '' : ' is-past'}`} id="main" tabIndex={-1}>
      <header className="diff-head">
        <Link className="button ghost icon" href={back} aria-label="Back" title="Back">
          <ArrowLeft size={18} aria-hidden />
        </Link>
        <div className="diff-who">
          <h1 className="one-line" title={showControls(subject.title)}>
            {showControls(subject.title)}
          </h1>
          <div className="meta one-line">
            <Link href={teamPath(teamId)}>{teamId}</Link>
            {isOpen && ` · ${showControls(shown.subject.what)}`}
            {head && (
              <>
                {' '}
                · <span className="mono">{head.from.slice(0, 7)}</span> →{' '}
                <span className="mono">{head.to.slice(0, 7)}</span>
                {head.savedAt !== undefined && <> · saved {showTime(head.savedAt)}</>}
              </>
            )}
          </div>
        </div>
        <span className="spacer" />
        {head && (
          <span className="diff-size">
            {plural(head.files, 'file')} <Counts added={head.added} removed={head.removed} />
          </span>
        )}
        {at !== undefined && (
          <button
            type="button"
            className="button live-back"
            onClick={() => team.show(undefined)}
            title={showMoment(at)}
          >
            As of {showTime(at)} <span className="quiet">Back to now</span>
          </button>
        )}
        {at === undefined && isOpen && (
          <button
            type="button"
            className={`button${isNewer ? ' primary' : ' ghost icon'}`}
            onClick={reload}
            aria-label="Read it again"
            title="Read it again"
          >
            <RefreshCw size={16} aria-hidden /> {isNewer && 'There is more'}
          </button>
        )}
      </header>
      {!isOpen ? (
        <div className="empty">
          <FileDiff size={32} aria-hidden />
          <h2>Nothing to compare</h2>
          <p>{shown.subject.what}</p>
        </div>
      ) : (
        store && (
          <Reviewing value={review.isShown ? review.work : undefined}>
            <Body key={shown.round} store={store} list={list} />
          </Reviewing>
        )
      )}
      {of !== undefined && at === undefined && (
        <ReviewBar teamId={teamId} taskId={of} review={review} list={list} onNewer={reload} />
      )}
    </main>
  );
}

/** Reads a difference while the page is shown. */
function useDiff(teamId: string, asked: AskedFiles | undefined, round: number): DiffStore | undefined {
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

function Body({ store, list }: { store: DiffStore; list: RefObject<LineListHandle | null> }) {
  const isNarrow = useNarrow();
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
  useKeys({
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
  });
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
      <div className="empty">
        <FileDiff size={32} aria-hidden />
        <h2>No changes</h2>
        <p>Nothing differs from the commit that this work began from.</p>
      </div>
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
        <div className="switch" role="group" aria-label="Layout">
          <button type="button" aria-pressed={layout === 'unified'} onClick={() => setLayout('unified')}>
            <Rows3 size={15} aria-hidden /> Unified
          </button>
          <button type="button" aria-pressed={layout === 'split'} onClick={() => setLayout('split')}>
            <Columns2 size={15} aria-hidden /> Side by side
          </button>
        </div>
      </div>
      <FileList changes={store.changes} current={current} onShow={show} />
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
