import { useState } from 'react';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';

const PRIORITIES = ['low', 'medium', 'high', 'critical'] as const;

/** Creates a task. */
export function NewTask({ teamId, isOpen, onClose }: { teamId: string; isOpen: boolean; onClose: () => void }) {
  return (
    <Modal title="New task" isOpen={isOpen} onClose={onClose}>
      <NewTaskForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

function NewTaskForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const members = useTeam(({ view }) => view.members);
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [assigneeId, setAssignee] = useState('');
  const [priority, setPriority] = useState<(typeof PRIORITIES)[number]>('medium');
  const [needs, setNeeds] = useState('');
  const { isBusy, failure, run } = useAct();
  const create = async (): Promise<void> => {
    const dependencies = needs.split(/[\s,]+/).flatMap((word) => (word === '' ? [] : word.replace(/^T-/i, '')));
    let id = '';
    const isDone = await run(async () => {
      const task = { teamId, title, description, priority, dependencies, ...(assigneeId && { assigneeId }) };
      ({ id } = await call('task.create', task));
    });
    if (!isDone) return;
    say(`T-${id} was created`);
    onClose();
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <label className="field">
        <span>Title</span>
        <input className="input" required value={title} onChange={(event) => setTitle(event.target.value)} />
      </label>
      <label className="field">
        <span>Description</span>
        <textarea
          className="input"
          rows={4}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
          placeholder="What is to be done, and how one sees that it is. Markdown."
        />
      </label>
      <div className="pair">
        <label className="field">
          <span>For</span>
          <select className="input" value={assigneeId} onChange={(event) => setAssignee(event.target.value)}>
            <option value="">anybody</option>
            {members
              .filter(({ status }) => status !== 'stopped')
              .map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
          </select>
        </label>
        <label className="field">
          <span>Priority</span>
          <select
            className="input"
            value={priority}
            onChange={(event) => setPriority(PRIORITIES.find((one) => one === event.target.value) ?? 'medium')}
          >
            {PRIORITIES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      <label className="field">
        <span>Waits for</span>
        <input
          className="input mono"
          value={needs}
          onChange={(event) => setNeeds(event.target.value)}
          placeholder="T-1 T-4"
        />
      </label>
      <FailureNote failure={failure} />
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={isBusy}>
          Create
        </button>
      </div>
    </form>
  );
}
