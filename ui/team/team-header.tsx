import {
  Command,
  EllipsisVertical,
  FileDiff,
  GitMerge,
  Link2,
  MessageSquare,
  NotebookText,
  Power,
  UserPlus,
} from 'lucide-react';
import { useState } from 'react';
import { countMembers, situationOf } from '../../src/client/replica.ts';
import { reach } from '../data/daemon.ts';
import { notePath } from '../data/links.ts';
import { diffPath, navigate, teamPath } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import type { TaskPhase } from '../data/task-view.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';
import { MergeBranch } from '../forms/merge-branch.tsx';
import { ShutDownTeam } from '../forms/shut-down-team.tsx';
import { SpawnTeammate } from '../forms/spawn-teammate.tsx';
import { WriteToAll } from '../forms/write-to-all.tsx';
import { openPalette } from '../palette/open.ts';
import { BudgetMark } from '../parts/budget-mark.tsx';
import { copyLink } from '../parts/copy-link.tsx';
import { plural, showCost, showCount, showSpan, tokensOf } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { ActionMenu } from '../parts/menu.tsx';
import type { MenuLine } from '../parts/menu.tsx';
import { ProgressBar } from '../parts/progress-bar.tsx';
import { SituationHelp, SituationPill } from '../parts/situation.tsx';
import { PHASE_WORDS } from '../parts/status.tsx';
import { record } from '../record/head.ts';

const SEGMENTS: readonly TaskPhase[] = ['completed', 'in_progress', 'gate', 'failed', 'pending', 'blocked'];

/** Name, state, progress and the main figures. */
export function TeamHeader({ teamId }: { teamId: string }) {
  const view = useTeam(({ view }) => view);
  const moment = useTeam(({ moment }) => moment);
  const { team, tasks, counts, usage, critical, members } = view;
  // A figure that is neither reported nor limited is not shown.
  const tokens = tokensOf(usage);
  const budget = team?.budget;
  const [form, setForm] = useState<'spawn' | 'write' | 'down' | 'merge'>();
  const { teammates } = countMembers(members, team);
  const hasPath = tasks.some(({ task }) => task.dependencies.length > 0);
  const isClosed = team?.status === 'cleaned-up';
  const isHere = useSignal(reach) === 'live';
  // A closed team can be merged, too.
  const canMerge = isHere && moment === undefined && team?.work !== undefined && team.work.tip !== team.work.base;
  // While work goes on, it is only in the menu.
  const isOver = counts.completed + counts.failed === tasks.length;
  const close = (): void => setForm(undefined);
  const changes: readonly (MenuLine | 'line')[] = [
    {
      label: 'Merge the branch…',
      icon: <GitMerge size={15} />,
      isDisabled: !canMerge,
      onSelect: () => setForm('merge'),
    },
    'line',
    {
      label: 'Spawn a teammate…',
      icon: <UserPlus size={15} />,
      isDisabled: isClosed,
      onSelect: () => setForm('spawn'),
    },
    {
      label: 'Write to all…',
      icon: <MessageSquare size={15} />,
      isDisabled: isClosed,
      onSelect: () => setForm('write'),
    },
    'line',
    {
      label: 'Shut the team down…',
      icon: <Power size={15} />,
      isDanger: true,
      isDisabled: isClosed,
      onSelect: () => setForm('down'),
    },
  ];
  return (
    <header className="team-head">
      <h1 className="one-line" title={team?.description || teamId}>
        {teamId}
      </h1>
      {team?.parent && (
        <span className="meta one-line">
          for{' '}
          <Link href={teamPath(team.parent.teamId, `/m/${team.parent.memberId}`)}>
            {team.parent.memberId} of {team.parent.teamId}
          </Link>
        </span>
      )}
      {team && <HowItIs teamId={teamId} onSpawn={() => setForm('spawn')} />}
      <span className="meta team-age">
        <Age since={team?.createdAt} until={team?.closedAt} /> · {plural(teammates, 'teammate')}
      </span>
      <div
        className="team-progress"
        role="img"
        aria-label={`${counts.completed} of ${plural(tasks.length, 'task')} completed: ${SEGMENTS.filter(
          (one) => counts[one] > 0,
        )
          .map((one) => `${counts[one]} ${PHASE_WORDS[one].toLowerCase()}`)
          .join(', ')}`}
      >
        <ProgressBar counts={counts} of={tasks.length} />
        <span className="team-count">
          {tasks.length === 0 ? (
            <span className="quiet">no task</span>
          ) : (
            <>
              <b>{counts.completed}</b> of {tasks.length}
            </>
          )}
        </span>
      </div>
      <span className="spacer" />
      <BudgetMark />
      <dl className="figures">
        {(usage.costUsd > 0 || budget?.costUsd !== undefined) && (
          <div>
            <dt>Cost</dt>
            <dd>
              {usage.estimated ? '≈ ' : ''}
              {showCost(usage.costUsd)}
              {budget?.costUsd !== undefined && (
                <span className="of"> of {showCost(budget.costUsd).replace(/\.00$/, '')}</span>
              )}
            </dd>
          </div>
        )}
        {(tokens > 0 || budget?.tokens !== undefined) && (
          <div className="wide">
            <dt>Tokens</dt>
            <dd>
              {showCount(tokens)}
              {budget?.tokens !== undefined && <span className="of"> of {showCount(budget.tokens)}</span>}
            </dd>
          </div>
        )}
        {hasPath && (
          <div className="wide">
            <dt>Critical path</dt>
            <dd>{critical.left} left</dd>
          </div>
        )}
      </dl>
      <LivePill />
      {team?.work && (
        <Link
          className="button wide-only"
          href={diffPath(teamId, undefined, moment)}
          title="What has landed on the branch"
        >
          <FileDiff size={15} aria-hidden /> Diff
        </Link>
      )}
      {canMerge && isOver && (
        <button type="button" className="button wide-only" onClick={() => setForm('merge')}>
          <GitMerge size={15} aria-hidden /> Merge…
        </button>
      )}
      <button type="button" className="button palette-button" onClick={openPalette} aria-label="Commands">
        <Command size={15} aria-hidden />
        <span className="palette-word">Commands</span>
        <kbd>Ctrl K</kbd>
      </button>
      <ActionMenu
        trigger={
          <button type="button" className="button ghost icon" aria-label="Team actions">
            <EllipsisVertical size={18} aria-hidden />
          </button>
        }
        lines={[
          {
            label: 'Copy a link to this team',
            icon: <Link2 size={15} />,
            onSelect: () => void copyLink(teamPath(teamId), teamId),
          },
          { label: 'Notes', icon: <NotebookText size={15} />, onSelect: () => navigate(notePath(teamId)) },
          {
            label: 'Show the diff of the branch',
            icon: <FileDiff size={15} />,
            isDisabled: !team?.work,
            onSelect: () => navigate(diffPath(teamId)),
          },
          ...(record ? [] : changes),
        ]}
      />
      <SpawnTeammate teamId={teamId} isOpen={form === 'spawn'} onClose={close} />
      <WriteToAll teamId={teamId} isOpen={form === 'write'} onClose={close} />
      <MergeBranch teamId={teamId} isOpen={form === 'merge'} onClose={close} />
      <ShutDownTeam teamId={teamId} isOpen={form === 'down'} onClose={close} />
    </header>
  );
}

/** How the team is, and the button that helps, if the page shows the present. */
function HowItIs({ teamId, onSpawn }: { teamId: string; onSpawn: () => void }) {
  const state = useTeam(({ view }) => view.state);
  const canAct = useCanAct();
  const situation = situationOf(state, useTeamNow());
  return (
    <>
      <SituationPill situation={situation} />
      {canAct && <SituationHelp teamId={teamId} situation={situation} onSpawn={onSpawn} />}
    </>
  );
}

function Age({ since, until }: { since: Date | undefined; until: Date | undefined }) {
  const now = useTeamNow();
  return <>{since ? showSpan((until?.getTime() ?? now) - since.getTime()) : ''}</>;
}

/** Shown only when the view is behind. */
function LivePill() {
  const isLost = useSignal(reach) === 'lost';
  const phase = useTeam(({ phase }) => phase);
  const progress = useTeam(
    ({ progress }) => progress,
    (a, b) => a.done === b.done && a.of === b.of,
  );
  const text = isLost
    ? 'Reconnecting'
    : phase === 'catching-up'
      ? `Catching up ${progress.done.toLocaleString('en-US')} of ${progress.of.toLocaleString('en-US')}`
      : '';
  return (
    <span role="status" aria-live="polite">
      {text && <span className="status pill is-gate">{text}</span>}
    </span>
  );
}
