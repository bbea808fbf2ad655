import { useRef } from 'react';
import { call } from '../../data/daemon.ts';
import type { TaskView } from '../../data/task-view.ts';
import type { Priority } from '../../forms/priorities.ts';
import { act } from '../../parts/act.ts';

interface Wish {
  readonly priority: Priority;
  /** The revision from which on the task has it; unknown until the daemon answers. */
  from?: number;
}

/** Requested priorities: two quick steps count as two, even if the page still shows the task before the first. */
export function usePriority(teamId: string) {
  const wishes = useRef(new Map<string, Wish>());
  const priorityOf = ({ id, task }: TaskView): Priority => {
    const wish = wishes.current.get(id);
    if (wish && (wish.from === undefined || task.revision < wish.from)) return wish.priority;
    return task.priority;
  };
  const setPriority = (view: TaskView, priority: Priority): void => {
    if (priority === priorityOf(view)) return;
    const wish: Wish = { priority };
    wishes.current.set(view.id, wish);
    const update = async (): Promise<void> => {
      wish.from = (await call('task.update', { teamId, taskId: view.id, priority })).revision;
    };
    void act(update, `#${view.id} has ${priority} priority now`).then(() => {
      if (wish.from === undefined && wishes.current.get(view.id) === wish) wishes.current.delete(view.id);
    });
  };
  return { priorityOf, setPriority };
}
