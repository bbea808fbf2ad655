import { useState } from 'react';
import type { AgentSpec } from '../../src/core/agent.ts';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';

/** Starts a teammate: like one that is there, or by a program. */
export function SpawnTeammate({ teamId, isOpen, onClose }: { teamId: string; isOpen: boolean; onClose: () => void }) {
  return (
    <Modal title="Spawn a teammate" isOpen={isOpen} onClose={onClose}>
      <SpawnForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

const PROGRAM = '@program';

function SpawnForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const members = useTeam(({ view }) => view.members);
  const models = members.filter(({ agent }) => agent !== undefined);
  const [like, setLike] = useState(models[0]?.id ?? PROGRAM);
  const [name, setName] = useState('');
  const [role, setRole] = useState('teammate');
  const [prompt, setPrompt] = useState('');
  const [program, setProgram] = useState('');
  const [planApprovalRequired, setPlan] = useState(false);
  const { isBusy, failure, run } = useAct();
  const spawn = async (): Promise<void> => {
    const model = models.find(({ id }) => id === like);
    const agent: AgentSpec = model?.agent ?? { kind: 'exec', command: wordsOf(program) };
    const place = model?.cwd === undefined ? {} : { cwd: model.cwd };
    const isDone = await run(() =>
      call('member.spawn', { teamId, name, role, prompt, planApprovalRequired, agent, ...place }),
    );
    if (!isDone) return;
    say(`${name} is starting`);
    onClose();
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void spawn();
      }}
    >
      <div className="pair">
        <label className="field">
          <span>Name</span>
          <input className="input" required value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label className="field">
          <span>Role</span>
          <input className="input" value={role} onChange={(event) => setRole(event.target.value)} />
        </label>
      </div>
      <label className="field">
        <span>Run by</span>
        <select className="input" value={like} onChange={(event) => setLike(event.target.value)}>
          {models.map(({ id, agent }) => (
            <option key={id} value={id}>
              the same as {id} ({agent?.name ?? agent?.kind})
            </option>
          ))}
          <option value={PROGRAM}>a program…</option>
        </select>
      </label>
      {like === PROGRAM && (
        <label className="field">
          <span>Program and arguments</span>
          <input
            className="input mono"
            required
            value={program}
            onChange={(event) => setProgram(event.target.value)}
            placeholder={`/path/to/agent "an argument"`}
          />
          <span className="hint">It gets each turn as JSON on standard input, and runs as you.</span>
        </label>
      )}
      <label className="field">
        <span>What it should know</span>
        <textarea className="input" rows={3} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
      </label>
      <label className="check">
        <input type="checkbox" checked={planApprovalRequired} onChange={(event) => setPlan(event.target.checked)} />
        Its plan must be approved before it changes anything
      </label>
      <FailureNote failure={failure} />
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={isBusy}>
          Spawn
        </button>
      </div>
    </form>
  );
}

/** Words at spaces; "quoted parts" stay together. No shell ever sees them. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
