import { call } from '../data/daemon.ts';
import type { TaskView } from '../data/task-view.ts';
import { showControls } from '../parts/controls.ts';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { hasSameHolder, OtherNow, useAsked } from './as-asked.tsx';
import { Form } from './form.tsx';

/** Asks for confirmation before a blocked task is completed, because the tasks that depend on it would become ready. */
export function CompleteBlocked({ view, onClose }: { view: TaskView | undefined; onClose: () => void }) {
  return (
    <Modal title={`Complete #${view?.id ?? ''} though it is blocked?`} isOpen={view !== undefined} onClose={onClose}>
      {view && <CompleteForm key={view.id} view={view} onClose={onClose} />}
    </Modal>
  );
}

function CompleteForm({ view, onClose }: { view: TaskView; onClose: () => void }) {
  const { asked, isOther, sendAsked } = useAsked(
    view,
    (one, other) => hasSameHolder(one, other) && one.phase === other.phase,
  );
  const { task } = view;
  const complete = async (signal: AbortSignal): Promise<void> => {
    const { teamId, id: taskId, epoch } = asked.task;
    await sendAsked(() => call('task.complete', { teamId, taskId, epoch }, { signal }));
    say(`#${taskId} is completed`);
  };
  return (
    <Form verb="Complete" isDanger isBlocked={isOther} submit={complete} onClose={onClose}>
      <p className="text">{showControls(task.title)}</p>
      {isOther ? (
        <OtherNow view={view} />
      ) : (
        <p>It {task.blockedReason ?? 'is blocked'}. What waits for it can then begin.</p>
      )}
    </Form>
  );
}
