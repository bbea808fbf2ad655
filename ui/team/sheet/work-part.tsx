import { CircleCheck, CircleDot, CircleMinus, FileDiff, GitMerge, GitPullRequestArrow } from 'lucide-react';
import type { SharedTask } from '../../../src/core/task.ts';
import type { TaskWork } from '../../../src/core/work.ts';
import { Counts } from '../../diff/file-words.tsx';
import { showControls } from '../../parts/controls.ts';
import { plural } from '../../parts/format.ts';
import { ChangedFiles } from './changed-files.tsx';

/** More paths are counted. */
const SHOWN = 8;

/** What became of the work on a task, and the files that it changed. */
export function WorkPart({
  teamId,
  task: { id: taskId, status },
  work,
  onFile,
}: {
  teamId: string;
  task: SharedTask;
  work: TaskWork;
  /** Opens what was changed, at a file. */
  onFile: (path?: string) => void;
}) {
  const { state, files, added, removed, conflicts = [] } = work;
  return (
    <section className={`sheet-part${state === 'conflicted' ? ' is-failed' : ''}`}>
      <h3>Work</h3>
      <div className="row work-state">
        <WorkState work={work} />
        {files !== undefined && files > 0 && (
          <span className="diff-size">
            {plural(files, 'file')} <Counts added={added} removed={removed} />
          </span>
        )}
        <span className="spacer" />
        {state !== 'unchanged' && (
          <button type="button" className="button small" onClick={() => onFile()}>
            <FileDiff size={14} aria-hidden /> Diff
          </button>
        )}
      </div>
      {state !== 'unchanged' && <ChangedFiles teamId={teamId} taskId={taskId} onFile={onFile} />}
      {conflicts.length > 0 && (
        <>
          <p>
            {status === 'completed'
              ? 'It is kept, but not on the branch.'
              : `It went back to ${work.memberId}, whose folder has both sides.`}{' '}
            These files conflict with work that landed before:
          </p>
          <ul className="work-paths">
            {conflicts.slice(0, SHOWN).map((path) => (
              <li key={path}>
                <bdi className="mono">{showControls(path)}</bdi>
              </li>
            ))}
            {conflicts.length > SHOWN && <li className="quiet">{conflicts.length - SHOWN} more</li>}
          </ul>
        </>
      )}
    </section>
  );
}

function WorkState({ work: { state, memberId, base, commit, merged, place } }: { work: TaskWork }) {
  switch (state) {
    case 'landed':
      return (
        <span className="status is-completed">
          <CircleCheck size={14} aria-hidden /> Landed as <Commit id={merged} />
        </span>
      );
    case 'conflicted':
      return (
        <span className="status is-failed">
          <GitMerge size={14} aria-hidden /> Conflicted, handed in as <Commit id={commit} />
        </span>
      );
    case 'unchanged':
      return (
        <span className="status is-pending">
          <CircleMinus size={14} aria-hidden /> {memberId} changed nothing
        </span>
      );
    case 'submitted':
      return (
        <span className="status is-in_progress">
          <GitPullRequestArrow size={14} aria-hidden /> Waits to land{place === undefined ? '' : `, place ${place}`}:
          handed in as <Commit id={commit} />
        </span>
      );
    case 'asked':
      return (
        <span className="status is-gate">
          <GitPullRequestArrow size={14} aria-hidden /> Waits for its approval: handed in as <Commit id={commit} />
        </span>
      );
    case 'begun':
      return (
        <span className="status is-in_progress">
          <CircleDot size={14} aria-hidden /> {commit === undefined ? 'Begun' : 'Handed in'} by {memberId} from{' '}
          <Commit id={base} />
        </span>
      );
  }
}

function Commit({ id = '' }: { id: string | undefined }) {
  return (
    <span className="mono" title={id}>
      {id.slice(0, 7)}
    </span>
  );
}
