import { FileDiff, Maximize2, RefreshCw } from 'lucide-react';
import { useRef } from 'react';
import { diffPath } from '../../data/route.ts';
import { useTeam } from '../../data/use-team.tsx';
import { subjectOf } from '../../diff/asked.ts';
import type { Subject } from '../../diff/asked.ts';
import { DiffView, useDiff } from '../../diff/diff-view.tsx';
import { Counts } from '../../diff/file-words.tsx';
import type { LineListHandle } from '../../diff/line-list.tsx';
import { showControls } from '../../parts/controls.ts';
import { Empty } from '../../parts/empty.tsx';
import { plural } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';

/** What a task changed, inside of its sheet: the files, and their lines as they are scrolled to. */
export function DiffPart({ teamId, taskId, file }: { teamId: string; taskId: string; file: string | undefined }) {
  const moment = useTeam((team) => team.moment);
  const at = useTeam(({ moment, history }) => (moment === undefined ? undefined : history[moment - 1]?.events[0]?.at));
  const subject = useTeam(
    ({ state }) => subjectOf(state, taskId, at),
    (a, b) => a.key === b.key && a.title === b.title && a.what === b.what,
  );
  return <Shown key={`${at}`} teamId={teamId} taskId={taskId} moment={moment} file={file} subject={subject} />;
}

function Shown({
  teamId,
  taskId,
  moment,
  file,
  subject,
}: {
  teamId: string;
  taskId: string;
  moment: number | undefined;
  file: string | undefined;
  subject: Subject;
}) {
  const { shown, isOpen, isNewer, reload, store } = useDiff(teamId, subject);
  const list = useRef<LineListHandle>(null);
  const { head } = store ?? {};
  if (!isOpen) {
    return (
      <Empty icon={FileDiff} title="Nothing to compare">
        <p>{shown.subject.what}</p>
      </Empty>
    );
  }
  return (
    <div className="sheet-diff">
      <div className="sheet-diff-head">
        <span>{showControls(shown.subject.what)}</span>
        {head && (
          <span className="diff-size">
            {plural(head.files, 'file')} <Counts added={head.added} removed={head.removed} />
          </span>
        )}
        <span className="spacer" />
        {isNewer && (
          <button type="button" className="button small primary" onClick={reload}>
            <RefreshCw size={14} aria-hidden /> There is more
          </button>
        )}
        <Link className="button small" href={diffPath(teamId, taskId, moment)}>
          <Maximize2 size={14} aria-hidden /> Whole page
        </Link>
      </div>
      {store && <DiffView key={shown.round} store={store} list={list} isInSheet first={file} />}
    </div>
  );
}
