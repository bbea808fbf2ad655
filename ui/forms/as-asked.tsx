import { useState } from 'react';
import type { TaskView } from '../data/task-view.ts';
import { PHASE_WORDS } from '../parts/status.tsx';

/** A form about a task as it was when the form was opened. */
interface Asked {
  /** The task as the person saw it; its epoch is sent along. */
  readonly asked: TaskView;
  /** Whether somebody else changed the task's holder or finished it, so that the form no longer applies. */
  readonly isOther: boolean;
  /** Sends the form. Changes that it causes itself do not count as somebody else's. */
  readonly sendAsked: (send: () => Promise<unknown>) => Promise<void>;
}

/**
 * Ties a form to the task as it was when the form was opened. If somebody claims the task meanwhile, it is not changed.
 */
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

/** Whether a task has the same holder, and is finished or not as before. */
export function hasSameHolder(one: TaskView, other: TaskView): boolean {
  const { task: a } = one;
  const { task: b } = other;
  return a.epoch === b.epoch && a.assigneeId === b.assigneeId && isOver(one) === isOver(other);
}

function isOver({ phase }: TaskView): boolean {
  return phase === 'completed' || phase === 'failed';
}

/** Shows the current state of the task in place of the form. */
export function OtherNow({ view: { phase, task } }: { view: TaskView }) {
  const held = phase === 'in_progress' || phase === 'gate' ? 'held by' : 'for';
  return (
    <p role="alert">
      It has changed since you were asked: now it is {PHASE_WORDS[phase].toLowerCase()}
      {task.assigneeId !== undefined && `, ${held} ${task.assigneeId}`}. Cancel, and move it again if you still want to.
    </p>
  );
}
