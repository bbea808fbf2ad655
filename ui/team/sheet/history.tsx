import { pastOf } from '../../data/task-past.ts';
import { useStore, useTeam } from '../../data/use-team.tsx';
import { showTime } from '../../parts/format.ts';
import { Reading } from '../../parts/reading.tsx';
import { describeEvent } from '../event-text.ts';

/** The history of a task, the newest first. Each line shows the team at that moment. */
export function TaskHistory({ taskId }: { taskId: string }) {
  const store = useStore();
  const seq = useTeam(({ moment, progress }) => moment ?? progress.done);
  const isWhole = useTeam(({ isWhole }) => isWhole);
  const events = pastOf(isWhole ? store.history.slice(0, seq) : store.history, taskId);
  return (
    <section className="sheet-part">
      <h3>History</h3>
      <ol className="events">
        {events.toReversed().map(({ seq, event }) => (
          <li key={`${seq} ${event.type}`}>
            <button type="button" onClick={() => store.show(seq)} title="Show the team at this moment">
              <time dateTime={new Date(event.at).toISOString()}>{showTime(event.at)}</time>
              <span className="text">{describeEvent(event)}</span>
            </button>
          </li>
        ))}
      </ol>
      <Reading what="older events" />
    </section>
  );
}
