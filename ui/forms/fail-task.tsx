import { useState } from 'react';
import { call } from '../data/daemon.ts';
import type { TaskView } from '../data/task-view.ts';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { Form, TextField } from './form.tsx';

/** Ends a task badly, with the reason. */
export function FailTask({ view, onClose }: { view: TaskView | undefined; onClose: () => void }) {
  return (
    <Modal title={`Fail #${view?.id ?? ''}`} isOpen={view !== undefined} onClose={onClose}>
      {view && <FailForm view={view} onClose={onClose} />}
    </Modal>
  );
}

function FailForm({ view: { task }, onClose }: { view: TaskView; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const fail = async (signal: AbortSignal): Promise<void> => {
    await call('task.fail', { teamId: task.teamId, taskId: task.id, epoch: task.epoch, reason }, { signal });
    say(`#${task.id} failed`);
  };
  return (
    <Form verb="Fail it" isDanger submit={fail} onClose={onClose}>
      <p className="text">{task.title}</p>
      <TextField
        label="Why"
        rows={3}
        required
        value={reason}
        onChange={setReason}
        hint="Tasks that wait for it stay blocked, go ahead or fail too, as each of them says."
      />
    </Form>
  );
}
