import { ChevronDown, ChevronRight, CircleAlert, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { countMembers, hookTroubles } from '../../src/client/replica.ts';
import { isForPerson } from '../data/teams.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useTeam } from '../data/use-team.tsx';
import { SpawnTeammate } from '../forms/spawn-teammate.tsx';
import { showControls } from '../parts/controls.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { Link } from '../parts/link.tsx';
import { RequestCard } from '../queue/request-card.tsx';
import { useKept } from '../queue/use-kept.ts';
import { record } from '../record/head.ts';
import { MemberCard } from './member-card.tsx';
import { MergeQueue } from './merge-queue.tsx';
import { Overlaps } from './overlaps.tsx';

/** More requests would push the members out of sight; the queue has them all. */
const SHOWN = 4;

/** The requests that wait for a person, the hooks that fail, the merge queue, what several members change, and the members. */
export function SidePanel({ teamId, isTab = false }: { teamId: string; isTab?: boolean }) {
  return (
    <aside className={isTab ? 'side-tab' : 'side'} aria-label="Requests and members">
      {!isTab && <WaitsForYou />}
      {!isTab && <HookTroubles />}
      <MergeQueue teamId={teamId} />
      <Overlaps teamId={teamId} />
      <Members teamId={teamId} />
    </aside>
  );
}

/** In a record, it no longer waits for the reader. */
const WAITS = record ? 'Waited for an answer' : 'Waits for you';

function WaitsForYou() {
  const pending = useTeam(({ view }) => view.pending);
  const byId = useTeam(({ view }) => view.byId);
  const canAct = useCanAct();
  const [isUnfolded, setUnfolded] = useState(false);
  const { shown: requests, moveOn } = useKept(pending.filter(isForPerson), 1);
  const count = requests.filter(({ status }) => status === 'pending').length;
  if (requests.length === 0) return record ? null : <p className="side-quiet">Nothing waits for you.</p>;
  return (
    <section className={`waits${isUnfolded ? ' is-unfolded' : ''}`} aria-label={WAITS}>
      <h2 className="side-head">
        {WAITS} {count > 0 && <span className="count">{count}</span>}
        <span className="spacer" />
        <button
          type="button"
          className="button ghost small waits-fold"
          aria-expanded={isUnfolded}
          onClick={() => setUnfolded(!isUnfolded)}
        >
          <ChevronDown size={14} aria-hidden /> {isUnfolded ? 'Fold' : 'Show'}
        </button>
        {!record && (
          <Link className="button ghost small" href="/queue">
            Queue <kbd>G Q</kbd>
          </Link>
        )}
      </h2>
      <div className="waits-cards">
        {requests.slice(0, record ? Infinity : SHOWN).map((request, i) => {
          const task = request.taskId === undefined ? undefined : byId.get(request.taskId)?.task;
          return (
            <RequestCard
              key={request.id}
              request={request}
              title={task && `#${task.id} ${task.title}`}
              isOpen={i === 0}
              canAct={canAct}
              onNext={moveOn}
            />
          );
        })}
        {requests.length > SHOWN && !record && (
          <Link className="button ghost small" href="/queue">
            {requests.length - SHOWN} more <ChevronRight size={14} aria-hidden />
          </Link>
        )}
      </div>
    </section>
  );
}

/** Hooks that failed and let work pass: the tasks that passed do not show it. */
function HookTroubles() {
  const metadata = useTeam(({ view }) => view.team?.metadata);
  const troubles = hookTroubles(metadata);
  if (troubles.length === 0) return null;
  return (
    <section className="hook-troubles" aria-label="Hooks that let work pass">
      {troubles.map((text) => (
        <p key={text} className="error">
          <CircleAlert size={16} aria-hidden />
          <span>{showControls(text)}</span>
        </p>
      ))}
    </section>
  );
}

function Members({ teamId }: { teamId: string }) {
  const members = useTeam(({ view }) => view.members);
  const count = useTeam(({ view }) => countMembers(view.members, view.team).members);
  const canAct = useCanAct();
  const [isSpawning, setSpawning] = useState(false);
  const live = members.filter(({ status }) => status !== 'stopped');
  const stopped = members.filter(({ status }) => status === 'stopped');
  return (
    <section aria-label="Members">
      <h2 className="side-head">
        Members <span className="quiet">{count}</span>
        <span className="spacer" />
        {!record && (
          <IconButton
            label="Spawn a teammate"
            title="Spawn a teammate"
            disabled={!canAct}
            onClick={() => setSpawning(true)}
          >
            <UserPlus size={16} aria-hidden />
          </IconButton>
        )}
      </h2>
      <ul>
        {live.map((member) => (
          <MemberCard key={member.id} teamId={teamId} member={member} />
        ))}
      </ul>
      {stopped.length > 0 && (
        <details className="stopped" open={live.length <= 1}>
          <summary>{stopped.length} stopped</summary>
          <ul>
            {stopped.map((member) => (
              <MemberCard key={member.id} teamId={teamId} member={member} />
            ))}
          </ul>
        </details>
      )}
      <SpawnTeammate teamId={teamId} isOpen={isSpawning} onClose={() => setSpawning(false)} />
    </section>
  );
}
