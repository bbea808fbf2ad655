import { useState } from 'react';
import { call } from '../data/daemon.ts';
import type { TaskView } from '../data/task-view.ts';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { OtherNow, useAsked } from './as-asked.tsx';
import { Form, TextField } from './form.tsx';

/** Marks a task as failed, with a reason. */
export function FailTask({ view, onClose }: { view: TaskView | undefined; onClose: () => void }) {
  return (
    <Modal title={`Fail #${view?.id ?? ''}`} isOpen={view !== undefined} onClose={onClose}>
      {view && <FailForm key={view.id} view={view} onClose={onClose} />}
    </Modal>
  );
}

function FailForm({ view, onClose }: { view: TaskView; onClose: () => void }) {
  const { asked, isOther, sendAsked } = useAsked(view);
  const [reason, setReason] = useState('');
  const fail = async (signal: AbortSignal): Promise<void> => {
    const { teamId, id: taskId, epoch } = asked.task;
    await sendAsked(() => call('task.fail', { teamId, taskId, epoch, reason }, { signal }));
    say(`#${taskId} failed`);
  };
  return (
    <Form verb="Fail it" isDanger isBlocked={isOther} submit={fail} onClose={onClose}>
      <p className="text">{view.task.title}</p>
      <TextField
        label="Why"
        rows={3}
        required
        value={reason}
        onChange={setReason}
        hint="Tasks that wait for it stay blocked, go ahead or fail too, depending on their settings."
      />
      {isOther && <OtherNow view={view} />}
    </Form>
  );
}
