import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../data/daemon.ts';
import { taskIdsIn } from '../../data/task-view.ts';
import type { TaskView } from '../../data/task-view.ts';
import { useTeam } from '../../data/use-team.tsx';
import { act } from '../../parts/act.ts';
import { showControls } from '../../parts/controls.ts';
import { IconButton } from '../../parts/icon-button.tsx';
import { record } from '../../record/head.ts';
import { TaskLine } from '../task-line.tsx';

/** The tasks it waits for, and those that wait for it. Edges can also be drawn in the graph. */
export function Dependencies({ teamId, view: { task }, canAct }: { teamId: string; view: TaskView; canAct: boolean }) {
  const tasks = useTeam(({ view }) => view.tasks);
  const byId = useTeam(({ view }) => view.byId);
  const [text, setText] = useState('');
  const add = async (): Promise<void> => {
    const id = tasks.find((one) => one.task.title === text.trim())?.id ?? taskIdsIn(text)[0];
    if (id === undefined) return;
    const isDone = await act(
      () => call('task.depend', { teamId, taskId: task.id, dependencies: [id] }),
      `#${task.id} now waits for #${id}`,
    );
    if (isDone) setText('');
  };
  return (
    <section className="sheet-part">
      <h3>Waits for</h3>
      <ul className="needs">
        {task.dependencies.map((id) => (
          <li key={id} className="row">
            <TaskLine teamId={teamId} view={byId.get(id)} id={id} />
            <span className="spacer" />
            {!record && (
              <IconButton
                className="small"
                disabled={!canAct}
                label={`Remove the dependency on #${id}`}
                onClick={() => void act(() => call('task.undepend', { teamId, taskId: task.id, dependencies: [id] }))}
              >
                <X size={14} aria-hidden />
              </IconButton>
            )}
          </li>
        ))}
        {task.dependencies.length === 0 && <li className="quiet">no task</li>}
      </ul>
      {canAct && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <input
            className="input"
            list="all-tasks"
            value={text}
            onChange={(event) => setText(event.target.value)}
            placeholder="Add a dependency: #3 or its title"
            aria-label="Add a dependency"
          />
          <datalist id="all-tasks">
            {tasks
              .filter(({ id }) => id !== task.id && !task.dependencies.includes(id))
              .slice(0, 200)
              .map((one) => (
                <option key={one.id} value={`#${one.id}`}>
                  {showControls(one.task.title)}
                </option>
              ))}
          </datalist>
          <button type="submit" className="button icon" aria-label="Add the dependency" disabled={text.trim() === ''}>
            <Plus size={16} aria-hidden />
          </button>
        </form>
      )}
      {task.blocks.length > 0 && (
        <>
          <h3>Then unblocks</h3>
          <ul className="needs">
            {task.blocks.map((id) => (
              <li key={id} className="row">
                <TaskLine teamId={teamId} view={byId.get(id)} id={id} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
