import { useState } from 'react';
import type { SharedTask } from '../../src/core/task.ts';
import { call } from '../data/daemon.ts';
import { Form, TextField } from './form.tsx';

/** Changes what a task says. Somebody else's change in the meantime is not overwritten but told. */
export function EditTask({ teamId, task, onClose }: { teamId: string; task: SharedTask; onClose: () => void }) {
  const [{ revision }] = useState(task);
  const [title, setTitle] = useState(task.title);
  const [description, setDescription] = useState(task.description);
  return (
    <Form
      className="sheet-body"
      verb="Save"
      submit={() => call('task.update', { teamId, taskId: task.id, title, description, revision })}
      onClose={onClose}
    >
      <TextField label="Title" required value={title} onChange={setTitle} />
      <TextField label="Description" rows={12} isMono value={description} onChange={setDescription} />
    </Form>
  );
}
