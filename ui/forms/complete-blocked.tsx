import { call } from '../data/daemon.ts';
import type { TaskView } from '../data/task-view.ts';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { Form } from './form.tsx';

/** Asks before a task is completed that still waits for others: those who wait for it would begin. */
export function CompleteBlocked({ view, onClose }: { view: TaskView | undefined; onClose: () => void }) {
  const complete = async ({ task: { teamId, id: taskId, epoch } }: TaskView): Promise<void> => {
    await call('task.complete', { teamId, taskId, epoch });
    say(`#${taskId} is completed`);
  };
  return (
    <Modal title={`Complete #${view?.id ?? ''} though it is blocked?`} isOpen={view !== undefined} onClose={onClose}>
      {view && (
        <Form verb="Complete" isDanger submit={() => complete(view)} onClose={onClose}>
          <p className="text">{view.task.title}</p>
          <p>It {view.task.blockedReason ?? 'is blocked'}. What waits for it can then begin.</p>
        </Form>
      )}
    </Modal>
  );
}
