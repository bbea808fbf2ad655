import { useState } from 'react';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';
import { plural } from '../parts/format.ts';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';

/** Ends a team; it stays readable. */
export function ShutDownTeam({ teamId, isOpen, onClose }: { teamId: string; isOpen: boolean; onClose: () => void }) {
  return (
    <Modal title={`Shut ${teamId} down?`} isOpen={isOpen} onClose={onClose}>
      <ShutDownForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

function ShutDownForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const { counts, members, team } = useTeam(({ view }) => view);
  const [isForced, setForced] = useState(false);
  const { isBusy, failure, run } = useAct();
  const live = members.filter(({ id, status }) => status !== 'stopped' && id !== team?.leadId).length;
  const shutDown = async (): Promise<void> => {
    if (!(await run(() => call('team.down', { teamId, force: isForced })))) return;
    say(`${teamId} is closed; it can still be read`);
    onClose();
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void shutDown();
      }}
    >
      <p>
        {plural(live, 'teammate')} will be asked to stop; those that have not in 30 seconds are ended. Work under way (
        {plural(counts.working + counts.gate, 'task')}) goes back undone. The team can then only be read.
      </p>
      <label className="check">
        <input type="checkbox" checked={isForced} onChange={(event) => setForced(event.target.checked)} />
        End them at once, without asking
      </label>
      <FailureNote failure={failure} />
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary danger" disabled={isBusy}>
          {isBusy ? 'Shutting down…' : 'Shut down'}
        </button>
      </div>
    </form>
  );
}
