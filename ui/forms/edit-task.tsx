import { useState } from 'react';
import { CallError } from '../../src/client/client.ts';
import type { SharedTask } from '../../src/core/task.ts';
import { call } from '../data/daemon.ts';
import { useStore } from '../data/use-team.tsx';
import { Form, TextField } from './form.tsx';

/** The fields of a task that are edited here, and their revision. */
type Words = Pick<SharedTask, 'title' | 'description' | 'revision'>;

/**
 * Edits the text of a task. If somebody else edits it meanwhile, the form neither overwrites nor loses their text: it
 * shows both, and the person chooses. Other changes, such as a claim, do not matter here.
 */
export function EditTask({ teamId, task, onClose }: { teamId: string; task: SharedTask; onClose: () => void }) {
  const taskId = task.id;
  const [base, setBase] = useState<Words>(task);
  const [asked, setAsked] = useState<Words>(task);
  const [title, setTitle] = useState(task.title);
  const [description, setDescription] = useState(task.description);
  // The daemon may have reported a change before its event came.
  const theirs: Words = asked.revision > task.revision ? asked : task;
  const isConflict = !saySame(theirs, base) && !saySame(theirs, { title, description });
  const save = async (signal: AbortSignal): Promise<unknown> => {
    const send = (revision: number) =>
      call('task.update', { teamId, taskId, title, description, revision }, { signal });
    try {
      return await send(theirs.revision);
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== 'stale_revision') throw error;
      const now = await call('task.show', { teamId, taskId }, { signal });
      if (saySame(now, base)) return send(now.revision);
      setAsked(now);
      return 'stay';
    }
  };
  const takeTheirs = (): void => {
    setBase(theirs);
    setTitle(theirs.title);
    setDescription(theirs.description);
  };
  return (
    <Form className="sheet-body" verb="Save" isBlocked={isConflict} submit={save} onClose={onClose}>
      <TextField label="Title" required value={title} onChange={setTitle} />
      <TextField label="Description" rows={12} isMono value={description} onChange={setDescription} />
      {isConflict && (
        <Conflict taskId={taskId} base={base} theirs={theirs} onKeep={() => setBase(theirs)} onTake={takeTheirs} />
      )}
    </Form>
  );
}

function saySame(a: Omit<Words, 'revision'>, b: Omit<Words, 'revision'>): boolean {
  return a.title === b.title && a.description === b.description;
}

/** The text that somebody else wrote meanwhile, and the choice between both. */
function Conflict({
  taskId,
  base,
  theirs,
  onKeep,
  onTake,
}: {
  taskId: string;
  base: Words;
  theirs: Words;
  onKeep: () => void;
  onTake: () => void;
}) {
  const who = useLastEditor(taskId);
  return (
    <section className="sheet-part is-gate" role="alert">
      <h3>{who} changed this task while you edited it</h3>
      {theirs.title !== base.title && (
        <p className="text">
          The title is now <b>{theirs.title}</b>
        </p>
      )}
      {theirs.description !== base.description && (
        <>
          <p>The description is now</p>
          <pre className="code">{theirs.description === '' ? '(empty)' : theirs.description}</pre>
        </>
      )}
      <div className="row">
        <button type="button" className="button" onClick={onKeep}>
          Keep mine
        </button>
        <button type="button" className="button" onClick={onTake}>
          Take theirs
        </button>
      </div>
    </section>
  );
}

/** Who changed a task last, in words. */
function useLastEditor(taskId: string): string {
  const { history } = useStore();
  const [last] = history
    .findLast(({ events }) => events.some((event) => event.type === 'task:updated' && event.taskId === taskId))
    ?.events.slice(-1) ?? [undefined];
  if (last === undefined || last.by === '@system') return 'Somebody';
  return last.by === '@user' ? 'Somebody at another screen' : last.by;
}
