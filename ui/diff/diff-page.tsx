import { ArrowLeft, FileDiff, GitMerge, RefreshCw } from 'lucide-react';
import { useRef, useState } from 'react';
import { teamPath, useQuery } from '../data/route.ts';
import { useMoment } from '../data/use-moment.ts';
import { useStore, useTeam } from '../data/use-team.tsx';
import { MergeBranch } from '../forms/merge-branch.tsx';
import { showControls } from '../parts/controls.ts';
import { Empty } from '../parts/empty.tsx';
import { plural, showMoment, showTime } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { record } from '../record/head.ts';
import { FailedTeam } from '../team/failed-team.tsx';
import { isTask, subjectOf } from './asked.ts';
import type { Subject } from './asked.ts';
import { DiffView, useDiff } from './diff-view.tsx';
import { Counts } from './file-words.tsx';
import type { LineListHandle } from './line-list.tsx';
import { ReviewBar, useReview } from './review-bar.tsx';
import { Reviewing } from './reviewing.ts';

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
  const [query] = useQuery();
  const team = useStore();
  const { shown, isOpen, isNewer, reload, store } = useDiff(teamId, subject);
  const { head } = store ?? {};
  const [isMerging, setMerging] = useState(false);
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
        {of === undefined && at === undefined && isOpen && !record && (
          <button type="button" className="button" onClick={() => setMerging(true)}>
            <GitMerge size={15} aria-hidden /> Merge…
          </button>
        )}
        {at === undefined && isOpen && !record && (
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
        <Empty icon={FileDiff} title="Nothing to compare">
          <p>{shown.subject.what}</p>
        </Empty>
      ) : (
        store && (
          <Reviewing value={review.isShown && !record ? review.work : undefined}>
            <DiffView key={shown.round} store={store} list={list} first={query.get('file') ?? undefined} />
          </Reviewing>
        )
      )}
      {of !== undefined && at === undefined && !record && (
        <ReviewBar teamId={teamId} taskId={of} review={review} list={list} onNewer={reload} />
      )}
      <MergeBranch teamId={teamId} isOpen={isMerging} onClose={() => setMerging(false)} />
    </main>
  );
}
