import { ScrollText, ShieldAlert } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { whyBlocked, workedOn } from '../../../src/client/replica.ts';
import { call } from '../../data/daemon.ts';
import type { Attempt } from '../../data/task-attempts.ts';
import type { TaskView } from '../../data/task-view.ts';
import { useCanAct } from '../../data/use-can-act.ts';
import { useTeamNow } from '../../data/use-team-now.ts';
import { useTeam } from '../../data/use-team.tsx';
import { EditTask } from '../../forms/edit-task.tsx';
import { ChoiceField } from '../../forms/form.tsx';
import { PRIORITY_CHOICES } from '../../forms/priorities.ts';
import { act } from '../../parts/act.ts';
import { BudgetMark } from '../../parts/budget-mark.tsx';
import { showControls } from '../../parts/controls.ts';
import { Fact } from '../../parts/fact.tsx';
import { showAgo, showBudget, showMoment, showSpan, usedParts } from '../../parts/format.ts';
import { Markdown } from '../../parts/markdown.tsx';
import { record } from '../../record/head.ts';
import { TaskActions } from './actions.tsx';
import { Attempts } from './attempts.tsx';
import { Dependencies } from './dependencies.tsx';
import { TaskHistory } from './history.tsx';
import { TaskWaits } from './task-waits.tsx';
import { WorkPart } from './work-part.tsx';

/** Whether there are logs to show: a record may have none. */
const hasLogs = record?.hasTranscripts ?? true;

/** Everything about a task, and the ways to change it. */
export function TaskBody({
  teamId,
  view,
  attempts,
  onAttempt,
  onFile,
  onGate,
}: {
  teamId: string;
  view: TaskView;
  attempts: readonly Attempt[];
  /** Opens the log of an attempt, the last one without a number. */
  onAttempt: (number?: number) => void;
  /** Opens what was changed, at a file. */
  onFile: (path?: string) => void;
  /** Opens what gates said. */
  onGate: () => void;
}) {
  const { task } = view;
  // The tasks that it waits for are listed below.
  const blocker = whyBlocked(task, () => '');
  const canAct = useCanAct();
  const state = useTeam(({ view }) => view.state);
  const used = usedParts(useTeam(({ view }) => view.state.taskUsage.get(task.id)));
  const [isEditing, setEditing] = useState(false);
  const now = useTeamNow();
  if (isEditing) return <EditTask teamId={teamId} task={task} onClose={() => setEditing(false)} />;
  return (
    <div className="sheet-body">
      <h2 className="sheet-title text">{showControls(task.title)}</h2>
      <TaskWaits task={task} />
      {!record && (
        <>
          <TaskActions teamId={teamId} view={view} canAct={canAct} onEdit={() => setEditing(true)} />
          <div className="pair">
            <Assignee teamId={teamId} view={view} canAct={canAct} />
            <ChoiceField
              label="Priority"
              value={task.priority}
              choices={PRIORITY_CHOICES}
              isDisabled={!canAct}
              onChange={(priority) => void act(() => call('task.update', { teamId, taskId: task.id, priority }))}
            />
          </div>
        </>
      )}
      {blocker !== '' && <Part title="Why nobody can claim it" text={`It ${blocker}`} isOutput />}
      {task.failure !== undefined && (
        <Part title="Why it failed" className="is-failed" text={task.failure} isOutput>
          {attempts.length > 0 && hasLogs && (
            <button type="button" className="button small" onClick={() => onAttempt()}>
              <ScrollText size={14} aria-hidden /> Show where it failed
            </button>
          )}
        </Part>
      )}
      {task.feedback !== undefined && (
        <Part
          title={`Why it was sent back${task.rejections > 1 ? ` (×${task.rejections})` : ''}`}
          className="is-gate"
          text={task.feedback}
          isOutput
        >
          {attempts.some(({ isByGate }) => isByGate) && hasLogs && (
            <button type="button" className="button small" onClick={onGate}>
              <ShieldAlert size={14} aria-hidden /> Show the failing line
            </button>
          )}
        </Part>
      )}
      {task.description !== '' && <Part title="Description" text={task.description} />}
      {task.result !== undefined && <Part title="Result" className="is-completed" text={task.result} />}
      <Attempts attempts={attempts} onOpen={hasLogs ? ({ number }) => onAttempt(number) : undefined} />
      {task.work && <WorkPart teamId={teamId} task={task} work={task.work} onFile={onFile} />}
      <Dependencies teamId={teamId} view={view} canAct={canAct} />
      <dl className="facts">
        {record && (
          <>
            <Fact name={task.status === 'in_progress' ? 'Held by' : 'For'}>{task.assigneeId ?? 'anybody'}</Fact>
            <Fact name="Priority">{task.priority}</Fact>
          </>
        )}
        <Fact name="Created">
          {task.createdBy === '@user' ? 'you' : task.createdBy},{' '}
          <span title={showMoment(task.createdAt)}>{showAgo(task.createdAt.getTime(), now)}</span>
        </Fact>
        {task.startedAt && <Fact name="Worked on">{showSpan(workedOn(task, state.requests.values(), now))}</Fact>}
        {task.files && (
          <Fact name="Files">
            <span className="mono text">{showControls(task.files.join(', '))}</span>
          </Fact>
        )}
        {task.budget && (
          <Fact name="Budget">
            {showBudget(task.budget)} <BudgetMark taskId={task.id} />
          </Fact>
        )}
        {used.length > 0 && <Fact name="Used">{used.join(', ')}</Fact>}
        <Fact name="Epoch, revision">
          {task.epoch}, {task.revision}
        </Fact>
      </dl>
      <TaskHistory taskId={task.id} />
    </div>
  );
}

/** `isOutput`: output of a program, in which lines and spaces matter. */
function Part({
  title,
  text,
  className = '',
  isOutput = false,
  children,
}: {
  title: string;
  text: string;
  className?: string;
  isOutput?: boolean;
  children?: ReactNode;
}) {
  return (
    <section className={`sheet-part ${className}`}>
      <div className="row">
        <h3>{title}</h3>
        <span className="spacer" />
        {children}
      </div>
      {isOutput ? <pre className="code">{showControls(text)}</pre> : <Markdown text={text} />}
    </section>
  );
}

function Assignee({ teamId, view: { task }, canAct }: { teamId: string; view: TaskView; canAct: boolean }) {
  const members = useTeam(({ view }) => view.members);
  const able = members.filter(({ id, status }) => status !== 'stopped' || id === task.assigneeId);
  return (
    <ChoiceField
      label={task.status === 'in_progress' ? 'Held by' : 'For'}
      value={task.assigneeId ?? ''}
      choices={[['', 'anybody'], ...able.map(({ id }) => [id, id] as const)]}
      isDisabled={!canAct}
      onChange={(id) => void act(() => call('task.assign', { teamId, taskId: task.id, assigneeId: id || null }))}
    />
  );
}
