import { Ellipsis } from 'lucide-react';
import { memo } from 'react';
import type { PointerEvent } from 'react';
import { teamPath, withQuery } from '../../data/route.ts';
import type { TaskView } from '../../data/task-view.ts';
import { showControls } from '../../parts/controls.ts';
import { Link } from '../../parts/link.tsx';
import { choose, useIsChosen } from '../bulk/chosen.ts';
import { Pick } from '../bulk/pick.tsx';
import { PriorityMark } from '../priority-mark.tsx';
import { Holder, Since, WorkMark } from '../task-facts.tsx';

/** The handlers of a card; the same functions for the lifetime of the board. */
export interface CardHands {
  readonly press: (event: PointerEvent<HTMLElement>, id: string) => void;
  readonly openMenu: (id: string, button: HTMLElement) => void;
  readonly focus: (id: string) => void;
}

/** A task on the board. */
export const Card = memo(function Card({
  teamId,
  view,
  isStop,
  isTaken,
  canMove,
  hands,
}: {
  teamId: string;
  view: TaskView;
  isStop: boolean;
  isTaken: boolean;
  canMove: boolean;
  hands: CardHands;
}) {
  const { task, phase } = view;
  const isChosen = useIsChosen(task.id);
  return (
    <div
      className={`card is-${phase}${isTaken ? ' taken' : ''}${isChosen ? ' is-chosen' : ''}`}
      data-task={task.id}
      onPointerDown={canMove ? (event) => hands.press(event, task.id) : undefined}
    >
      <Link
        className="card-title three-lines"
        href={withQuery(teamPath(teamId, `/task/${task.id}`))}
        draggable={false}
        tabIndex={isStop ? 0 : -1}
        aria-describedby="board-keys"
        onFocus={() => hands.focus(task.id)}
      >
        {showControls(task.title)}
      </Link>
      <CardFoot view={view} />
      {canMove && (
        <div className="card-pick">
          <Pick id={task.id} isChosen={isChosen} onPick={(isOn) => choose([task.id], isOn)} />
        </div>
      )}
      {canMove && (
        <button
          type="button"
          className="card-menu"
          tabIndex={-1}
          aria-label={`Move #${task.id}`}
          aria-haspopup="menu"
          title="Move (M)"
          onPointerDown={(event) => event.stopPropagation()}
          onClick={(event) => hands.openMenu(task.id, event.currentTarget)}
        >
          <Ellipsis size={15} aria-hidden />
        </button>
      )}
    </div>
  );
});

/** The bottom line of a card. */
export function CardFoot({ view }: { view: TaskView }) {
  const { task } = view;
  return (
    <span className="card-foot">
      <span className="mono">#{task.id}</span>
      <PriorityMark priority={task.priority} />
      <span className="one-line">
        <Since view={view} />
      </span>
      <WorkMark task={task} />
      <span className="spacer" />
      <Holder id={task.assigneeId} />
    </span>
  );
}
