import { useState } from 'react';
import { isPerson } from '../../src/client/replica.ts';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { plural } from '../parts/format.ts';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { CheckField, Form, TextField } from './form.tsx';
import type { FormProps } from './form.tsx';

/** Sends one text to all members of the team. */
export function WriteToAll({ teamId, isOpen, onClose }: FormProps & { teamId: string }) {
  return (
    <Modal title="Write to all" isOpen={isOpen} onClose={onClose}>
      <WriteForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

function WriteForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const [content, setContent] = useState('');
  const [isUrgent, setUrgent] = useState(false);
  // A person who leads the team sends as the lead, and does not get their own message.
  const lead = useTeam(
    ({ view }) =>
      view.members.find((member) => member.id === view.team?.leadId && isPerson(member) && member.status !== 'stopped')
        ?.id,
  );
  const send = async (signal: AbortSignal): Promise<void> => {
    const priority = isUrgent ? 'urgent' : 'normal';
    const as = lead === undefined ? {} : { as: lead };
    const sent = await call('message.broadcast', { teamId, content, priority }, { ...as, signal });
    if (sent.length === 0) say('Nobody else is on the team: spawn a teammate first', true);
    else say(`Sent to ${plural(sent.length, 'member')}`);
  };
  return (
    <Form verb="Send" submit={send} onClose={onClose}>
      <TextField label="Message" required rows={5} value={content} onChange={setContent} />
      <CheckField
        label="Urgent: reaches a running turn instead of waiting for its end"
        isChecked={isUrgent}
        onChange={setUrgent}
      />
    </Form>
  );
}
