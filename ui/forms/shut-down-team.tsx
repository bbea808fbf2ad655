import { useState } from 'react';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { plural } from '../parts/format.ts';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { CheckField, Form } from './form.tsx';
import type { FormProps } from './form.tsx';

/** Shuts a team down; it stays readable. */
export function ShutDownTeam({ teamId, isOpen, onClose }: FormProps & { teamId: string }) {
  return (
    <Modal title={`Shut ${teamId} down?`} isOpen={isOpen} onClose={onClose}>
      <ShutDownForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

function ShutDownForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const { counts, members, team } = useTeam(({ view }) => view);
  const [force, setForced] = useState(false);
  const live = members.filter(({ id, status }) => status !== 'stopped' && id !== team?.leadId).length;
  const shutDown = async (signal: AbortSignal): Promise<void> => {
    await call('team.down', { teamId, force }, { signal });
    say(`${teamId} is closed; it can still be read`);
  };
  return (
    <Form verb="Shut down" busyVerb="Shutting down…" isDanger submit={shutDown} onClose={onClose}>
      <p>
        {plural(live, 'teammate')} will be asked to stop; those that have not in 30 seconds are ended. Work in progress
        ({plural(counts.in_progress + counts.gate, 'task')}) goes back undone. The team can then only be read.
      </p>
      <CheckField label="End them at once, without asking" isChecked={force} onChange={setForced} />
    </Form>
  );
}
