import { useState } from 'react';
import { call } from '../data/daemon.ts';
import { navigate, teamPath } from '../data/route.ts';
import { Modal } from '../parts/modal.tsx';
import { Form, TextField } from './form.tsx';
import type { FormProps } from './form.tsx';

/** Creates a team. */
export function NewTeam({ isOpen, onClose }: FormProps) {
  return (
    <Modal title="New team" isOpen={isOpen} onClose={onClose}>
      <NewTeamForm onClose={onClose} />
    </Modal>
  );
}

function NewTeamForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const create = async (signal: AbortSignal): Promise<void> => {
    await call('team.create', { name, description }, { signal });
    navigate(teamPath(name));
  };
  return (
    <Form verb="Create" submit={create} onClose={onClose}>
      <TextField
        label="Name"
        required
        value={name}
        onChange={setName}
        hint="a-z and 0-9, with - and _ inside. It is also the team’s address."
      />
      <TextField label="What it is for" rows={3} value={description} onChange={setDescription} />
    </Form>
  );
}
