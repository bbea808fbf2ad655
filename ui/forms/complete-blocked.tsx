import { useState } from 'react';
import { call } from '../data/daemon.ts';
import type { TaskView } from '../data/task-view.ts';
import { showControls } from '../parts/controls.ts';
import { Modal } from '../parts/modal.tsx';
import { PHASE_WORDS } from '../parts/status.tsx';
import { say } from '../parts/toast.tsx';
import { Form } from './form.tsx';

/** Asks before a task is completed that still waits for others: those who wait for it would begin. */
export function CompleteBlocked({ view, onClose }: { view: TaskView | undefined; onClose: () => void }) {
  return (
    <Modal title={`Complete #${view?.id ?? ''} though it is blocked?`} isOpen={view !== undefined} onClose={onClose}>
      {view && <CompleteForm key={view.id} view={view} onClose={onClose} />}
    </Modal>
  );
}

/** What was asked is asked of the task as it was then: one that somebody took meanwhile is not completed over their heads. */
function CompleteForm({ view, onClose }: { view: TaskView; onClose: () => void }) {
  const [asked] = useState(view);
  const [isSent, setSent] = useState(false);
  const { task } = view;
  const isOther = view.phase !== asked.phase || task.epoch !== asked.task.epoch;
  const complete = async (signal: AbortSignal): Promise<void> => {
    const { teamId, id: taskId, epoch } = asked.task;
    setSent(true);
    try {
      await call('task.complete', { teamId, taskId, epoch }, { signal });
    } catch (error) {
      setSent(false);
      throw error;
    }
    say(`#${taskId} is completed`);
  };
  return (
    <Form verb="Complete" isDanger isBlocked={isOther && !isSent} submit={complete} onClose={onClose}>
      <p className="text">{showControls(task.title)}</p>
      {isOther && !isSent ? (
        <p role="alert">
          It has changed since you were asked: now it is {PHASE_WORDS[view.phase].toLowerCase()}
          {task.assigneeId !== undefined && `, held by ${task.assigneeId}`}. Cancel, and move it again if you still want
          to.
        </p>
      ) : (
        <p>It {task.blockedReason ?? 'is blocked'}. What waits for it can then begin.</p>
      )}
    </Form>
  );
}
