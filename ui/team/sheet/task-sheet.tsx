import { RotateCcw, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { call } from '../../data/daemon.ts';
import { navigate, teamPath, useQuery, withQuery } from '../../data/route.ts';
import { useCanAct } from '../../data/use-can-act.ts';
import { useTeam } from '../../data/use-team.tsx';
import { act } from '../../parts/act.ts';
import { showControls } from '../../parts/controls.ts';
import { CopyLink } from '../../parts/copy-link.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { useKeys } from '../../parts/keys.ts';
import { PhaseStatus } from '../../parts/status.tsx';
import { record } from '../../record/head.ts';
import { SheetParts } from './sheet-parts.tsx';

/** One task, over the view that it was opened from. */
export function TaskSheet({ teamId, taskId }: { teamId: string; taskId: string }) {
  const view = useTeam(({ view }) => view.byId.get(taskId));
  const sheet = useRef<HTMLElement>(null);
  const [query, setQuery] = useQuery();
  const part = query.get('part');
  const close = (): void => {
    // Another task opens with its first part.
    setQuery({ part: undefined, attempt: undefined, file: undefined });
    navigate(withQuery(teamPath(teamId)));
  };
  // Works also when the focused element is gone.
  useKeys({ Escape: close });
  useEffect(() => {
    const before = document.activeElement;
    sheet.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <aside
      ref={sheet}
      className={`sheet${part === null ? '' : ' is-wide'}`}
      role="dialog"
      data-sheet
      aria-label={view ? `Task ${taskId}: ${showControls(view.task.title)}` : `Task ${taskId}`}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        close();
      }}
    >
      <header className="sheet-head">
        <span className="mono quiet">#{taskId}</span>
        {view && <PhaseStatus phase={view.phase} pill />}
        <span className="spacer" />
        <CopyLink path={teamPath(teamId, `/task/${taskId}`)} what={`#${taskId}`} />
        <IconButton onClick={close} label="Close">
          <X size={18} aria-hidden />
        </IconButton>
      </header>
      {view ? <SheetParts key={taskId} teamId={teamId} view={view} /> : <Gone teamId={teamId} taskId={taskId} />}
    </aside>
  );
}

function Gone({ teamId, taskId }: { teamId: string; taskId: string }) {
  const isDeleted = useTeam(({ state }) => state.tasks.get(taskId)?.status === 'deleted');
  const canAct = useCanAct();
  return (
    <div className="empty">
      <h2>{isDeleted ? 'This task was deleted' : 'There is no such task at this moment'}</h2>
      {isDeleted && !record && (
        <button
          type="button"
          className="button"
          disabled={!canAct}
          onClick={() => void act(() => call('task.reopen', { teamId, taskId }), `#${taskId} is back`)}
        >
          <RotateCcw size={15} aria-hidden /> Bring it back
        </button>
      )}
    </div>
  );
}
