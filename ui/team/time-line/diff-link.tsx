import { FileDiff } from 'lucide-react';
import type { Batch } from '../../../src/client/replica.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import { diffPath } from '../../data/route.ts';
import { useStore, useTeam } from '../../data/use-team.tsx';
import { Link } from '../../parts/link.tsx';

/** A link to what a moment is about: the work that landed or was handed in, else the branch as it was. */
export function DiffLink({ batch }: { batch: Batch }) {
  const { teamId } = useStore();
  const hasBranch = useTeam(({ view }) => view.team?.work !== undefined);
  if (!hasBranch) return null;
  const of = batch.events.map(workOf).findLast((one) => one !== undefined);
  return (
    <Link className="button ghost small" href={diffPath(teamId, of, batch.seq)}>
      <FileDiff size={14} aria-hidden /> Diff
    </Link>
  );
}

/** The task or the member whose work an event is about. */
export function workOf(event: TeamEvent): string | undefined {
  switch (event.type) {
    case 'work:landed':
    case 'work:submitted':
    case 'work:conflicted':
      return event.taskId;
    case 'work:kept':
      return event.memberId;
    default:
      return undefined;
  }
}
