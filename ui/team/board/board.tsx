import { useCallback, useMemo, useRef, useState } from 'react';
import { useSignal } from '../../data/signal.ts';
import type { Signal } from '../../data/signal.ts';
import { TASK_PHASES } from '../../data/task-view.ts';
import type { TaskPhase, TaskView } from '../../data/task-view.ts';
import { useCanAct } from '../../data/use-can-act.ts';
import { useStore } from '../../data/use-team.tsx';
import { CompleteBlocked } from '../../forms/complete-blocked.tsx';
import { FailTask } from '../../forms/fail-task.tsx';
import { GiveTask } from '../../forms/give-task.tsx';
import { act } from '../../parts/act.ts';
import { showControls } from '../../parts/controls.ts';
import { say } from '../../parts/toast.tsx';
import { Card, CardFoot } from './card.tsx';
import type { CardHands } from './card.tsx';
import { Column } from './column.tsx';
import type { Landing } from './column.tsx';
import { MoveMenu } from './move-menu.tsx';
import { moveTo } from './moves.ts';
import { priorityAt, sortColumn } from './order.ts';
import { useBoardKeys } from './use-board-keys.ts';
import { useDrag } from './use-drag.ts';
import type { Place } from './use-drag.ts';
import { useGlide } from './use-glide.ts';
import { usePriority } from './use-priority.ts';
import './board.css';

const ALWAYS: readonly TaskPhase[] = ['pending', 'in_progress', 'completed'];
/** The columns that are sorted by priority. */
const ORDERED: readonly TaskPhase[] = ['pending', 'blocked', 'in_progress', 'gate'];

/** The tasks as cards in columns, one per phase. Cards are moved by mouse, menu or keys. */
export function Board({ teamId, tasks }: { teamId: string; tasks: readonly TaskView[] }) {
  const store = useStore();
  const canAct = useCanAct();
  const box = useRef<HTMLDivElement>(null);
  const columns = useMemo(() => {
    const byPhase = Map.groupBy(tasks, ({ phase }) => phase);
    return TASK_PHASES.filter((phase) => byPhase.has(phase) || ALWAYS.includes(phase)).map(
      (phase) => [phase, sortColumn(phase, byPhase.get(phase) ?? [])] as const,
    );
  }, [tasks]);
  const viewOf = (id: string | undefined): TaskView | undefined => tasks.find((view) => view.id === id);
  const [asked, setAsked] = useState<{ id: string; form: 'give' | 'fail' | 'complete' }>();
  const [menu, setMenu] = useState<{ id: string; anchor: HTMLElement }>();

  const move = (view: TaskView, to: TaskPhase): void => {
    const next = moveTo(store.state, view, to);
    if (next.kind === 'refused') say(next.why, true);
    else if (next.kind === 'ask') setAsked({ id: view.id, form: next.form });
    else if (next.kind === 'step') void act(next.run, next.done);
  };
  const { priorityOf, setPriority } = usePriority(teamId);
  const orderAt = (view: TaskView, { phase, index }: Place): Landing['order'] => {
    if (phase !== view.phase || !ORDERED.includes(phase)) return undefined;
    const all = columns.find(([one]) => one === phase)?.[1] ?? [];
    const priority = priorityAt(
      all.filter(({ id }) => id !== view.id),
      view,
      index,
    );
    // The dragged card itself is still in the column.
    const own = all.findIndex(({ id }) => id === view.id);
    return { index: index + (index > own ? 1 : 0), priority, isSame: priority === view.task.priority };
  };
  const drop = (id: string, place: Place): void => {
    const view = viewOf(id);
    if (!view) return;
    const order = orderAt(view, place);
    if (order) setPriority(view, order.priority);
    else move(view, place.phase);
  };
  const { drag, hand, press } = useDrag(drop);
  const { stop, onKeyDown, focus } = useBoardKeys(box, columns, {
    move: (id, to) => canAct && applyTo(viewOf(id), (view) => move(view, to)),
    canMove: (id, to) => {
      const view = viewOf(id);
      return view !== undefined && moveTo(store.state, view, to).kind !== 'refused';
    },
    priorityOf,
    setPriority: (view, priority) => canAct && setPriority(view, priority),
    openMenu: (id, anchor) => canAct && setMenu({ id, anchor }),
  });
  useGlide(box, columns);
  // The cards keep the same handlers, however often the board renders.
  const latest = useRef({ press, focus });
  latest.current = { press, focus };
  const hands = useMemo(
    (): CardHands => ({
      press: (event, id) => latest.current.press(event, id),
      openMenu: (id, anchor) => setMenu({ id, anchor }),
      focus: (id) => latest.current.focus(id),
    }),
    [],
  );
  const taken = viewOf(drag?.id);
  const landingOf = (phase: TaskPhase): Landing | undefined => {
    if (!drag || !taken) return undefined;
    const isOver = drag.place?.phase === phase;
    const order = isOver && drag.place ? orderAt(taken, drag.place) : undefined;
    return { move: moveTo(store.state, taken, phase), isOver, ...(order && { order }) };
  };
  const render = (view: TaskView) => (
    <Card
      teamId={teamId}
      view={view}
      isStop={view.id === stop}
      isTaken={view.id === drag?.id}
      canMove={canAct}
      hands={hands}
    />
  );
  const close = useCallback(() => setAsked(undefined), []);
  const shownInMenu = viewOf(menu?.id);
  return (
    <div className={`board${drag ? ' dragging' : ''}`} ref={box} role="group" aria-label="Board" onKeyDown={onKeyDown}>
      <span className="hidden" id="board-keys">
        Arrow keys go from card to card. Shift and an arrow key moves the card: left and right to another column, up and
        down in priority. M lists where it can go.
      </span>
      {columns.map(([phase, cards]) => (
        <Column key={phase} phase={phase} tasks={cards} landing={landingOf(phase)} render={render} />
      ))}
      {taken && drag && <InHand view={taken} width={drag.width} hand={hand} />}
      {menu && shownInMenu && (
        <MoveMenu
          view={shownInMenu}
          anchor={menu.anchor}
          moves={(phase) => moveTo(store.state, shownInMenu, phase)}
          onMove={(phase) => move(shownInMenu, phase)}
          onPriority={(priority) => setPriority(shownInMenu, priority)}
          onClose={() => {
            setMenu(undefined);
            focusCard(box.current, menu.id);
          }}
        />
      )}
      <GiveTask view={asked?.form === 'give' ? viewOf(asked.id) : undefined} onClose={close} />
      <CompleteBlocked view={asked?.form === 'complete' ? viewOf(asked.id) : undefined} onClose={close} />
      <FailTask view={asked?.form === 'fail' ? viewOf(asked.id) : undefined} onClose={close} />
    </div>
  );
}

function applyTo(view: TaskView | undefined, work: (view: TaskView) => void): void {
  if (view) work(view);
}

function focusCard(board: HTMLElement | null, id: string): void {
  board?.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"] a`)?.focus();
}

/** The dragged card. */
function InHand({ view, width, hand }: { view: TaskView; width: number; hand: Signal<{ x: number; y: number }> }) {
  const { x, y } = useSignal(hand);
  return (
    <div
      className={`card in-hand is-${view.phase}`}
      style={{ width, transform: `translate(${x}px, ${y}px) rotate(1.5deg)` }}
      aria-hidden
    >
      <span className="card-title three-lines">{showControls(view.task.title)}</span>
      <CardFoot view={view} />
    </div>
  );
}
