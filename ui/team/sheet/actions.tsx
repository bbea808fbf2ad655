import { CircleCheck, Pencil, RotateCcw, Trash2, Undo2 } from 'lucide-react';
import { call } from '../../data/daemon.ts';
import type { TaskView } from '../../data/task-view.ts';
import { act } from '../../parts/act.ts';

/** The actions that are possible for a task in its current state. */
export function TaskActions({
  teamId,
  view: { task, phase },
  canAct,
  onEdit,
}: {
  teamId: string;
  view: TaskView;
  canAct: boolean;
  onEdit: () => void;
}) {
  const taskId = task.id;
  const isEnded = phase === 'completed' || phase === 'failed';
  return (
    <div className="sheet-actions">
      <button type="button" className="button small" disabled={!canAct} onClick={onEdit}>
        <Pencil size={14} aria-hidden /> Edit
      </button>
      {isEnded && (
        <button
          type="button"
          className="button small"
          disabled={!canAct}
          onClick={() => void act(() => call('task.reopen', { teamId, taskId }), `#${taskId} is open again`)}
        >
          <RotateCcw size={14} aria-hidden /> Reopen
        </button>
      )}
      {(phase === 'in_progress' || phase === 'gate') && (
        <button
          type="button"
          className="button small"
          disabled={!canAct}
          title="Takes it from its holder; somebody may claim it again"
          onClick={() => void act(() => call('task.release', { teamId, taskId }), `#${taskId} was given back`)}
        >
          <Undo2 size={14} aria-hidden /> Release
        </button>
      )}
      {!isEnded && phase !== 'blocked' && (
        <button
          type="button"
          className="button small"
          disabled={!canAct}
          onClick={() =>
            void act(() => call('task.update', { teamId, taskId, status: 'completed' }), `#${taskId} is completed`)
          }
        >
          <CircleCheck size={14} aria-hidden /> Complete
        </button>
      )}
      <span className="spacer" />
      <button
        type="button"
        className="button small danger"
        disabled={!canAct}
        onClick={() => void act(() => call('task.delete', { teamId, taskId }), `#${taskId} was deleted`)}
      >
        <Trash2 size={14} aria-hidden /> Delete
      </button>
    </div>
  );
}
