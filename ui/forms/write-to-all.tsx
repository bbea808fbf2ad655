import { useState } from 'react';
import { call } from '../data/daemon.ts';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';

/** One text to everybody on the team. */
export function WriteToAll({ teamId, isOpen, onClose }: { teamId: string; isOpen: boolean; onClose: () => void }) {
  return (
    <Modal title="Write to all" isOpen={isOpen} onClose={onClose}>
      <WriteForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

function WriteForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const [content, setContent] = useState('');
  const [isUrgent, setUrgent] = useState(false);
  const { isBusy, failure, run } = useAct();
  const send = async (): Promise<void> => {
    const priority = isUrgent ? 'urgent' : 'normal';
    let count = 0;
    const isDone = await run(async () => {
      count = (await call('message.broadcast', { teamId, content, priority })).length;
    });
    if (!isDone) return;
    say(`Sent to ${count}`);
    onClose();
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label className="field">
        <span>Message</span>
        <textarea
          className="input"
          required
          rows={5}
          value={content}
          onChange={(event) => setContent(event.target.value)}
        />
      </label>
      <label className="check">
        <input type="checkbox" checked={isUrgent} onChange={(event) => setUrgent(event.target.checked)} />
        Urgent: reaches a running turn instead of waiting for its end
      </label>
      <FailureNote failure={failure} />
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={isBusy}>
          Send
        </button>
      </div>
    </form>
  );
}
