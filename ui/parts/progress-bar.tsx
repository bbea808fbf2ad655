import type { TaskPhase } from '../data/task-view.ts';
import { PHASE_WORDS } from './status.tsx';

const SEGMENTS: readonly TaskPhase[] = ['completed', 'in_progress', 'gate', 'failed'];

/**
 * The progress of a team by the phases of its tasks; tasks not yet begun are the empty track. The words are beside it.
 */
export function ProgressBar({ counts, of }: { counts: Partial<Readonly<Record<TaskPhase, number>>>; of: number }) {
  const parts = SEGMENTS.map((phase) => [phase, counts[phase] ?? 0] as const).filter(([, count]) => count > 0);
  const rest = of - parts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <span className="progress" aria-hidden>
      {parts.map(([phase, count]) => (
        <span
          key={phase}
          className={`is-${phase}`}
          style={{ flexGrow: count }}
          title={`${count} ${PHASE_WORDS[phase].toLowerCase()}`}
        />
      ))}
      {(rest > 0 || of === 0) && <span className="rest" style={{ flexGrow: Math.max(1, rest) }} />}
    </span>
  );
}
