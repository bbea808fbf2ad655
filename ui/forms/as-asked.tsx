import { useState } from 'react';
import type { TaskView } from '../data/task-view.ts';
import { PHASE_WORDS } from '../parts/status.tsx';

/** A form about a task as it was when it was opened. */
interface Asked {
  /** The task as the person saw it: what is sent names its epoch. */
  readonly asked: TaskView;
  /** It is another's now, or over: what was asked is no answer any more. */
  readonly isOther: boolean;
  /** Sends what was asked; that the task changes by this is nobody else's doing. */
  readonly sendAsked: (send: () => Promise<unknown>) => Promise<void>;
}

/** What was asked is asked of the task as it was then: one that somebody took meanwhile is not changed over their heads. */
export function useAsked(view: TaskView, isSame = hasSameHolder): Asked {
  const [asked] = useState(view);
  const [isSent, setSent] = useState(false);
  const sendAsked = async (send: () => Promise<unknown>): Promise<void> => {
    setSent(true);
    try {
      await send();
    } catch (error) {
      setSent(false);
      throw error;
    }
  };
  return { asked, isOther: !isSent && !isSame(asked, view), sendAsked };
}

/** Whether a task is with the same member, and still to be done. */
export function hasSameHolder(one: TaskView, other: TaskView): boolean {
  const { task: a } = one;
  const { task: b } = other;
  return a.epoch === b.epoch && a.assigneeId === b.assigneeId && isOver(one) === isOver(other);
}

function isOver({ phase }: TaskView): boolean {
  return phase === 'completed' || phase === 'failed';
}

/** How the task stands now, in place of what was asked. */
export function OtherNow({ view: { phase, task } }: { view: TaskView }) {
  const held = phase === 'in_progress' || phase === 'gate' ? 'held by' : 'for';
  return (
    <p role="alert">
      It has changed since you were asked: now it is {PHASE_WORDS[phase].toLowerCase()}
      {task.assigneeId !== undefined && `, ${held} ${task.assigneeId}`}. Cancel, and move it again if you still want to.
    </p>
  );
}
