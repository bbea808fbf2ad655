/** How far a team is, by what its tasks are. The words stand beside it. */
export function ProgressBar({
  done,
  running,
  failed,
  of,
}: {
  done: number;
  running: number;
  failed: number;
  of: number;
}) {
  const part = (count: number, phase: string) =>
    count > 0 && <span className={`is-${phase}`} style={{ flexGrow: count }} key={phase} />;
  return (
    <span className="progress" aria-hidden>
      {part(done, 'completed')}
      {part(running, 'in_progress')}
      {part(failed, 'failed')}
      {of - done - running - failed > 0 && <span className="rest" style={{ flexGrow: of - done - running - failed }} />}
      {of === 0 && <span className="rest" style={{ flexGrow: 1 }} />}
    </span>
  );
}
