import { Suspense, useMemo } from 'react';
import { useQuery } from '../../data/route.ts';
import { attemptsOf } from '../../data/task-attempts.ts';
import type { TaskView } from '../../data/task-view.ts';
import { useStore, useTeam } from '../../data/use-team.tsx';
import { later } from '../../parts/later.ts';
import { Reading } from '../../parts/reading.tsx';
import { stepTab } from '../../parts/step-tab.ts';
import { record } from '../../record/head.ts';
import { GatePart } from './gate-part.tsx';
import { LogPart } from './log-part.tsx';
import { MessagesPart } from './messages-part.tsx';
import { TaskBody } from './task-body.tsx';
import './sheet.css';

const DiffPart = later(async () => (await import('./diff-part.tsx')).DiffPart);

const ALL = [
  ['task', 'Task'],
  ['diff', 'Diff'],
  ['log', 'Log'],
  ['gate', 'Gate'],
  ['messages', 'Messages'],
] as const;

type PartName = (typeof ALL)[number][0];

/** Logs and the output of gates are in a record only if it has transcripts. */
const PARTS = ALL.filter(([name]) => (name !== 'log' && name !== 'gate') || (record?.hasTranscripts ?? true));

/** A task and its work: what it is, what it changed, what was done about it, what gates said, and who wrote about it. */
export function SheetParts({ teamId, view }: { teamId: string; view: TaskView }) {
  const { task } = view;
  const store = useStore();
  const seq = useTeam(({ moment, progress }) => moment ?? progress.done);
  const isWhole = useTeam(({ isWhole }) => isWhole);
  // Without the first attempts, all the others would have wrong numbers.
  const attempts = useMemo(
    () => (isWhole ? attemptsOf(store.history.slice(0, seq), task.id) : []),
    [store, seq, isWhole, task.id],
  );
  const [query, setQuery] = useQuery();
  const part = PARTS.find(([name]) => name === query.get('part'))?.[0] ?? 'task';
  const show = (
    name: PartName,
    { attempt, file }: { attempt?: number | undefined; file?: string | undefined } = {},
  ): void =>
    setQuery({
      part: name === 'task' ? undefined : name,
      attempt: attempt === undefined ? undefined : String(attempt),
      file,
    });
  const chosen = Number(query.get('attempt') ?? Number.NaN);
  return (
    <>
      <div className="sheet-tabs" role="tablist" aria-label={`Views of #${task.id}`}>
        {PARTS.map(([name, word]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`sheet-tab-${name}`}
            aria-selected={part === name}
            aria-controls="sheet-panel"
            tabIndex={part === name ? 0 : -1}
            onClick={() => show(name)}
            onKeyDown={stepTab}
          >
            {word}
          </button>
        ))}
      </div>
      <div className="sheet-panel" id="sheet-panel" role="tabpanel" aria-labelledby={`sheet-tab-${part}`}>
        {part === 'task' && (
          <TaskBody
            teamId={teamId}
            view={view}
            attempts={attempts}
            onAttempt={(attempt) => show('log', { attempt })}
            onFile={(file) => show('diff', { file })}
            onGate={() => show('gate')}
          />
        )}
        {part === 'diff' && (
          <Suspense fallback={null}>
            <DiffPart teamId={teamId} taskId={task.id} file={query.get('file') ?? undefined} />
          </Suspense>
        )}
        {(part === 'log' || part === 'messages') && <Reading what="the history" />}
        {part === 'log' && isWhole && (
          <LogPart
            teamId={teamId}
            attempts={attempts}
            chosen={Number.isNaN(chosen) ? undefined : chosen}
            onChoose={(attempt) => show('log', { attempt })}
          />
        )}
        {part === 'gate' && <GatePart teamId={teamId} taskId={task.id} revision={task.revision} />}
        {part === 'messages' && isWhole && <MessagesPart taskId={task.id} attempts={attempts} />}
      </div>
    </>
  );
}
