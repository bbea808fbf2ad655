import { Menu } from '@base-ui/react/menu';
import { TASK_PHASES } from '../../data/task-view.ts';
import type { TaskPhase, TaskView } from '../../data/task-view.ts';
import { PRIORITIES } from '../../forms/priorities.ts';
import type { Priority } from '../../forms/priorities.ts';
import { PHASE_WORDS, PhaseIcon } from '../../parts/status.tsx';
import type { Move } from './moves.ts';

/** Where a card can go, and why not elsewhere; and its priority. One menu for the whole board. */
export function MoveMenu({
  view,
  anchor,
  moves,
  onMove,
  onPriority,
  onClose,
}: {
  view: TaskView;
  anchor: HTMLElement;
  moves: (phase: TaskPhase) => Move;
  onMove: (phase: TaskPhase) => void;
  onPriority: (priority: Priority) => void;
  onClose: () => void;
}) {
  return (
    <Menu.Root open onOpenChange={(isOpen) => !isOpen && onClose()} modal={false}>
      <Menu.Portal>
        <Menu.Positioner className="menu-place" anchor={anchor} sideOffset={4} align="end">
          <Menu.Popup className="menu move-menu" aria-label={`Move #${view.id}`} finalFocus={false}>
            <div className="menu-head">Move #{view.id} to</div>
            {TASK_PHASES.filter((phase) => phase !== view.phase).map((phase) => (
              <PhaseLine key={phase} phase={phase} move={moves(phase)} onSelect={() => onMove(phase)} />
            ))}
            <div className="menu-line" role="separator" />
            <div className="menu-head">Priority</div>
            {PRIORITIES.map((priority) => (
              <Menu.Item
                key={priority}
                className="menu-item"
                disabled={priority === view.task.priority}
                onClick={() => onPriority(priority)}
              >
                {priority}
                <span className="spacer" />
                {priority === view.task.priority && <span className="meta">now</span>}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function PhaseLine({ phase, move, onSelect }: { phase: TaskPhase; move: Move; onSelect: () => void }) {
  const isRefused = move.kind === 'refused' || move.kind === 'stay';
  return (
    <Menu.Item className="menu-item" disabled={isRefused} onClick={onSelect}>
      <span className={`status is-${phase}`}>
        <PhaseIcon phase={phase} />
      </span>
      <span className="menu-words">
        {PHASE_WORDS[phase]}
        <span className="meta">{move.kind === 'refused' ? move.why : move.kind === 'stay' ? '' : move.words}</span>
      </span>
    </Menu.Item>
  );
}
