import { Columns3, ListFilter, ListTree, Plus, Users, Waypoints, X } from 'lucide-react';
import { useRef } from 'react';
import { TASK_PHASES } from '../data/task-view.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useTeam } from '../data/use-team.tsx';
import { useKeys } from '../parts/keys.ts';
import { ActionMenu } from '../parts/menu.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { PHASE_WORDS, PhaseIcon } from '../parts/status.tsx';
import { record } from '../record/head.ts';
import { useFilter } from './use-filter.ts';
import type { TeamViewName } from './use-filter.ts';

const VIEWS: readonly (readonly [TeamViewName, string, typeof Waypoints])[] = [
  ['graph', 'Graph', Waypoints],
  ['board', 'Board', Columns3],
  ['list', 'List', ListTree],
  ['members', 'Members', Users],
];

/** Chooses the view and filters the tasks. */
export function Toolbar({
  onNewTask,
  count,
}: {
  onNewTask: () => void;
  /** How many tasks match the filter. */
  count: { readonly found: number; readonly of: number };
}) {
  const { view, setView, filter, set, clear, isFiltered } = useFilter();
  const members = useTeam(({ view }) => view.members);
  const canAct = useCanAct();
  const search = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => search.current?.focus() });
  const memberLines = members.map(({ id }) => ({ label: id, onSelect: () => set({ member: id }) }));
  const statusLines = TASK_PHASES.map((phase) => ({
    label: PHASE_WORDS[phase],
    icon: (
      <span className={`status is-${phase}`}>
        <PhaseIcon phase={phase} />
      </span>
    ),
    onSelect: () => set({ status: phase }),
  }));
  return (
    <div className="toolbar">
      <div className="switch" role="group" aria-label="View">
        {VIEWS.map(([name, label, Icon]) => (
          <button
            key={name}
            type="button"
            className={`switch-${name}`}
            aria-label={label}
            aria-pressed={view === name}
            onClick={() => setView(name)}
          >
            <Icon size={15} aria-hidden />
            <span>{label}</span>
          </button>
        ))}
      </div>
      <SearchField
        ref={search}
        label="Filter tasks"
        placeholder="Filter"
        value={filter.text}
        onText={(q) => set({ q })}
        onClear={() => set({ q: '' })}
      >
        <kbd>/</kbd>
      </SearchField>
      <ActionMenu
        trigger={
          <button type="button" className="button filter">
            <ListFilter size={15} aria-hidden /> <span className="one-line">{filter.member || 'Member'}</span>
          </button>
        }
        lines={[{ label: 'All members', onSelect: () => set({ member: '' }) }, 'line', ...memberLines]}
      />
      <ActionMenu
        trigger={
          <button type="button" className="button filter">
            <ListFilter size={15} aria-hidden /> {filter.status ? PHASE_WORDS[filter.status] : 'Status'}
          </button>
        }
        lines={[{ label: 'Every status', onSelect: () => set({ status: '' }) }, 'line', ...statusLines]}
      />
      <ActionMenu
        trigger={
          <button
            type="button"
            className={`button icon filter-all${isFiltered ? ' is-on' : ''}`}
            aria-label="Filter by member or status"
          >
            <ListFilter size={15} aria-hidden />
          </button>
        }
        lines={[
          { label: 'All tasks', onSelect: clear },
          'line',
          { head: 'Member' },
          ...memberLines,
          'line',
          { head: 'Status' },
          ...statusLines,
        ]}
      />
      <span className="meta found-count" role="status">
        {isFiltered && (
          <>
            {count.found.toLocaleString('en-US')}
            <span className="found-of"> of {count.of.toLocaleString('en-US')}</span>
          </>
        )}
      </span>
      {isFiltered && (
        <button type="button" className="button ghost small clear" onClick={clear}>
          <X size={14} aria-hidden /> Clear
        </button>
      )}
      <span className="spacer" />
      {!record && (
        <button type="button" className="button" onClick={onNewTask} disabled={!canAct} aria-label="New task">
          <Plus size={16} aria-hidden /> <span className="add-word">Task</span>
        </button>
      )}
    </div>
  );
}
