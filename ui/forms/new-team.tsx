import { useState } from 'react';
import { call } from '../data/daemon.ts';
import { navigate, teamPath } from '../data/route.ts';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';
import { Modal } from '../parts/modal.tsx';

/** Makes a team. */
export function NewTeam({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal title="New team" isOpen={isOpen} onClose={onClose}>
      <NewTeamForm onClose={onClose} />
    </Modal>
  );
}

function NewTeamForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const { isBusy, failure, run } = useAct();
  const create = async (): Promise<void> => {
    if (!(await run(() => call('team.create', { name, description })))) return;
    onClose();
    navigate(teamPath(name));
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <label className="field">
        <span>Name</span>
        <input className="input" required value={name} onChange={(event) => setName(event.target.value)} />
        <span className="hint">a-z and 0-9, with - and _ inside. It is also the team’s address.</span>
      </label>
      <label className="field">
        <span>What it is for</span>
        <textarea className="input" value={description} onChange={(event) => setDescription(event.target.value)} />
      </label>
      <FailureNote failure={failure} />
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={isBusy}>
          Create
        </button>
      </div>
    </form>
  );
}
