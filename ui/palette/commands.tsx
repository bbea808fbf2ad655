import { Dialog } from '@base-ui/react/dialog';
import { Command, useCommandState } from 'cmdk';
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { notePath } from '../data/links.ts';
import { diffPath, navigate, teamPath, withQuery } from '../data/route.ts';
import type { Route } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import type { TaskView } from '../data/task-view.ts';
import { teams } from '../data/teams.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useTeam } from '../data/use-team.tsx';
import { NewTask } from '../forms/new-task.tsx';
import { ShutDownTeam } from '../forms/shut-down-team.tsx';
import { SpawnTeammate } from '../forms/spawn-teammate.tsx';
import { WriteToAll } from '../forms/write-to-all.tsx';
import { showControls } from '../parts/controls.ts';
import { PhaseIcon } from '../parts/status.tsx';
import { record } from '../record/head.ts';
import { Help } from './help.tsx';
import { isHelpOpen, isLogOutOpen, isPaletteOpen } from './open.ts';
import { findBest, rank } from './rank.ts';
import './palette.css';

/** How many tasks are shown, more than anyone looks through. All are searched. */
const TASKS = 100;

/** The three views of a team's tasks. */
const VIEWS = [
  ['?view=graph', 'Graph'],
  ['?view=board', 'Board'],
  ['?view=list', 'List'],
] as const;

type Form = 'task' | 'spawn' | 'write' | 'down';

/** The command palette: pages, members, tasks and actions, all by typing. */
export function Commands({ route }: { route: Route }) {
  const isOpen = useSignal(isPaletteOpen);
  const isHelp = useSignal(isHelpOpen);
  const [form, setForm] = useState<Form>();
  const close = (): void => isPaletteOpen.set(false);
  const go = (to: string) => (): void => {
    close();
    navigate(to);
  };
  const teamId = 'teamId' in route ? route.teamId : undefined;
  return (
    <>
      <Dialog.Root open={isOpen} onOpenChange={(open) => isPaletteOpen.set(open)}>
        <Dialog.Portal>
          <Dialog.Backdrop className="scrim" />
          <Dialog.Popup className="palette" aria-label="Commands">
            <Command label="Commands" loop filter={rankEntry}>
              <Command.Input
                placeholder={record ? 'Go to a member or task' : 'Go to a team, member or task; or do something'}
                className="palette-input"
              />
              <Command.List className="palette-list">
                <Command.Empty className="palette-empty">Nothing matches here.</Command.Empty>
                {teamId && <TeamEntries teamId={teamId} go={go} open={(name) => (close(), setForm(name))} />}
                <Command.Group heading="Go to">
                  {!record && (
                    <>
                      <Entry onSelect={go('/')} keys="G T">
                        All teams
                      </Entry>
                      <Entry onSelect={go('/queue')} keys="G Q">
                        Queue: what waits for you
                      </Entry>
                    </>
                  )}
                  {teamId &&
                    VIEWS.map(([view, label]) => (
                      <Entry key={view} onSelect={go(teamPath(teamId, view))}>
                        {label} of {teamId}
                      </Entry>
                    ))}
                  {teamId && (
                    <Entry onSelect={go(diffPath(teamId))} keys="G D">
                      Diff of the branch of {teamId}
                    </Entry>
                  )}
                  {teamId && <Entry onSelect={go(notePath(teamId))}>Notes of {teamId}</Entry>}
                  {teamId && (
                    <Entry onSelect={go(teamPath(teamId, '/numbers'))} keys="G N">
                      Numbers of {teamId}
                    </Entry>
                  )}
                  {!record && <Entry onSelect={go('/settings')}>Settings</Entry>}
                  <Entry
                    onSelect={() => {
                      close();
                      isHelpOpen.set(true);
                    }}
                    keys="?"
                  >
                    All keys
                  </Entry>
                  {!record && (
                    <Entry
                      onSelect={() => {
                        close();
                        isLogOutOpen.set(true);
                      }}
                    >
                      Log out
                    </Entry>
                  )}
                </Command.Group>
                <TeamsGroup go={go} />
                {!record && <SearchEntry go={go} />}
              </Command.List>
            </Command>
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
      <Help isOpen={isHelp} onClose={() => isHelpOpen.set(false)} />
      {teamId && (
        <>
          <NewTask teamId={teamId} isOpen={form === 'task'} onClose={() => setForm(undefined)} />
          <SpawnTeammate teamId={teamId} isOpen={form === 'spawn'} onClose={() => setForm(undefined)} />
          <WriteToAll teamId={teamId} isOpen={form === 'write'} onClose={() => setForm(undefined)} />
          <ShutDownTeam teamId={teamId} isOpen={form === 'down'} onClose={() => setForm(undefined)} />
        </>
      )}
    </>
  );
}

function Entry({
  children,
  onSelect,
  keys,
  value,
}: {
  children: ReactNode;
  onSelect: () => void;
  keys?: string;
  value?: string;
}) {
  return (
    <Command.Item className="palette-item" onSelect={onSelect} {...(value !== undefined && { value })}>
      <span className="one-line row">{children}</span>
      <span className="spacer" />
      {keys && <kbd>{keys}</kbd>}
    </Command.Item>
  );
}

/** The entry that searches everything, by its value. */
const SEARCH = 'search everything';

/** The search is always there, after all that matches. */
function rankEntry(entry: string, typed: string): number {
  return entry === SEARCH ? Math.max(0.05, rank(entry, typed)) : rank(entry, typed);
}

/** Hands the typed text to the search over everything. */
function SearchEntry({ go }: { go: (to: string) => () => void }) {
  const typed = useCommandState(({ search }) => search).trim();
  return (
    <Command.Group heading="Search">
      <Entry
        value={SEARCH}
        keys="G S"
        onSelect={go(typed === '' ? '/search' : `/search?q=${encodeURIComponent(typed)}`)}
      >
        {typed === '' ? 'Search everything' : `Search everything for “${showControls(typed)}”`}
      </Entry>
    </Command.Group>
  );
}

function TeamsGroup({ go }: { go: (to: string) => () => void }) {
  const list = useSignal(teams) ?? [];
  return (
    <Command.Group heading="Teams">
      {list.map(({ id, status, problem }) => (
        <Entry key={id} value={`team ${id}`} onSelect={go(teamPath(id))}>
          {id}{' '}
          {status === 'cleaned-up' && (
            <span className="quiet">{problem === undefined ? 'closed' : 'cannot be read'}</span>
          )}
        </Entry>
      ))}
    </Command.Group>
  );
}

function TeamEntries({
  teamId,
  go,
  open,
}: {
  teamId: string;
  go: (to: string) => () => void;
  open: (form: Form) => void;
}) {
  const tasks = useTeam(({ view }) => view.tasks);
  const members = useTeam(({ view }) => view.members);
  const canAct = useCanAct();
  const typed = useCommandState(({ search }) => search);
  const found = useMemo(() => findBest(tasks, typed, { most: TASKS, entryOf }), [tasks, typed]);
  return (
    <>
      {canAct && (
        <Command.Group heading="Do">
          <Entry onSelect={() => open('task')} keys="N">
            Create a task
          </Entry>
          <Entry onSelect={() => open('spawn')}>Spawn a teammate</Entry>
          <Entry onSelect={() => open('write')}>Write to all</Entry>
          <Entry onSelect={() => open('down')}>Shut {teamId} down</Entry>
        </Command.Group>
      )}
      <Command.Group heading="Members">
        {members.map(({ id, role }) => (
          <Entry key={id} value={`member ${id} ${role}`} onSelect={go(teamPath(teamId, `/m/${id}`))}>
            {id} {role !== id && <span className="quiet">{showControls(role)}</span>}
          </Entry>
        ))}
      </Command.Group>
      <Command.Group heading="Tasks">
        {found.map((view) => (
          <Entry key={view.id} value={entryOf(view)} onSelect={go(withQuery(teamPath(teamId, `/task/${view.id}`)))}>
            <span className={`status is-${view.phase}`}>
              <PhaseIcon phase={view.phase} />
            </span>
            <span className="mono quiet">#{view.id}</span>{' '}
            <span className="one-line">{showControls(view.task.title)}</span>
          </Entry>
        ))}
      </Command.Group>
    </>
  );
}

function entryOf({ id, task }: TaskView): string {
  return `#${id} ${task.title}`;
}
