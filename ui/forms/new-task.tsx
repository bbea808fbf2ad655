import { useState } from 'react';
import { call } from '../data/daemon.ts';
import { patternsIn, taskIdsIn } from '../data/task-view.ts';
import { useTeam } from '../data/use-team.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { ChoiceField, Form, TextField } from './form.tsx';
import type { FormProps } from './form.tsx';
import { PRIORITY_CHOICES } from './priorities.ts';
import type { Priority } from './priorities.ts';

/** Creates a task. */
export function NewTask({ teamId, isOpen, onClose }: FormProps & { teamId: string }) {
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
  const [priority, setPriority] = useState<Priority>('medium');
  const [needs, setNeeds] = useState('');
  const [files, setFiles] = useState('');
  const live = members.filter(({ status }) => status !== 'stopped');
  const create = async (signal: AbortSignal): Promise<void> => {
    const task = { teamId, title, description, priority, dependencies: taskIdsIn(needs) };
    const patterns = patternsIn(files);
    const more = { ...(assigneeId && { assigneeId }), ...(patterns.length > 0 && { files: patterns }) };
    const { id } = await call('task.create', { ...task, ...more }, { signal });
    say(`#${id} was created`);
  };
  return (
    <Form verb="Create" submit={create} onClose={onClose}>
      <TextField label="Title" required value={title} onChange={setTitle} />
      <TextField
        label="Description"
        rows={4}
        value={description}
        onChange={setDescription}
        placeholder="What to do, and how to check it. Markdown."
      />
      <div className="pair">
        <ChoiceField
          label="For"
          value={assigneeId}
          choices={[['', 'anybody'], ...live.map(({ id }) => [id, id] as const)]}
          onChange={setAssignee}
        />
        <ChoiceField label="Priority" value={priority} choices={PRIORITY_CHOICES} onChange={setPriority} />
      </div>
      <TextField label="Waits for" isMono value={needs} onChange={setNeeds} placeholder="#1 #4" />
      <TextField label="Files that it changes" isMono value={files} onChange={setFiles} placeholder="src/parser/**" />
    </Form>
  );
}
