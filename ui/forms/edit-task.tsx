import { useState } from 'react';
import type { SharedTask } from '../../src/core/task.ts';
import { call } from '../data/daemon.ts';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';

/** Changes what a task says. Somebody else's change in the meantime is not overwritten but told. */
export function EditTask({ teamId, task, onClose }: { teamId: string; task: SharedTask; onClose: () => void }) {
  const [seen] = useState(task);
  const [title, setTitle] = useState(task.title);
  const [description, setDescription] = useState(task.description);
  const { isBusy, failure, run } = useAct();
  const save = async (): Promise<void> => {
    const changes = { title, description, revision: seen.revision };
    if (await run(() => call('task.update', { teamId, taskId: task.id, ...changes }))) onClose();
  };
  return (
    <form
      className="form sheet-body"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label className="field">
        <span>Title</span>
        <input className="input" required value={title} onChange={(event) => setTitle(event.target.value)} />
      </label>
      <label className="field">
        <span>Description</span>
        <textarea
          className="input mono"
          rows={12}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </label>
      <FailureNote failure={failure} />
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={isBusy}>
          Save
        </button>
      </div>
    </form>
  );
}
