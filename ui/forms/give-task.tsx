import { useState } from 'react';
import { call } from '../data/daemon.ts';
import type { TaskView } from '../data/task-view.ts';
import { useTeam } from '../data/use-team.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { OtherNow, useAsked } from './as-asked.tsx';
import { ChoiceField, Form } from './form.tsx';

/** Reserves a task for a member. The member begins it, because nobody can begin a task in another's name. */
export function GiveTask({ view, onClose }: { view: TaskView | undefined; onClose: () => void }) {
  return (
    <Modal title={`Give #${view?.id ?? ''} to`} isOpen={view !== undefined} onClose={onClose}>
      {view && <GiveForm key={view.id} view={view} onClose={onClose} />}
    </Modal>
  );
}

function GiveForm({ view: now, onClose }: { view: TaskView; onClose: () => void }) {
  const { asked, isOther, sendAsked } = useAsked(now);
  const { task } = now;
  const members = useTeam(({ view }) => view.members);
  const tasks = useTeam(({ view }) => view.tasks);
  const busy = new Set(
    tasks.flatMap(({ task: { status, assigneeId } }) => (status === 'in_progress' ? assigneeId : [])),
  );
  const live = members.filter(({ status }) => status === 'active' || status === 'idle' || status === 'spawning');
  const sorted = live.toSorted((a, b) => Number(busy.has(a.id)) - Number(busy.has(b.id)));
  const [assigneeId, setAssignee] = useState(task.assigneeId ?? sorted[0]?.id ?? '');
  const give = async (signal: AbortSignal): Promise<void> => {
    const { teamId, id: taskId, epoch } = asked.task;
    await sendAsked(() => call('task.assign', { teamId, taskId, epoch, assigneeId: assigneeId || null }, { signal }));
    say(`#${taskId} is reserved for ${assigneeId}, who starts it when free`);
  };
  if (sorted.length === 0) return <p>No member can take it: spawn a teammate first.</p>;
  return (
    <Form verb="Give" isBlocked={isOther} submit={give} onClose={onClose}>
      <p className="text">{task.title}</p>
      <ChoiceField
        label="Member"
        value={assigneeId}
        choices={sorted.map(({ id, role }) => [id, `${id} (${role}${busy.has(id) ? ', has work' : ''})`] as const)}
        onChange={setAssignee}
      />
      {isOther ? (
        <OtherNow view={now} />
      ) : (
        <p className="hint">The task stays pending until the member starts it, and nobody else can take it.</p>
      )}
    </Form>
  );
}
