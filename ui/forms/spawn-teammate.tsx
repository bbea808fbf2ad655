import { useState } from 'react';
import type { AgentSpec } from '../../src/core/agent.ts';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { CheckField, ChoiceField, Form, TextField } from './form.tsx';
import type { FormProps } from './form.tsx';

/** Starts a teammate: like an existing one, or with a program. */
export function SpawnTeammate({ teamId, isOpen, onClose }: FormProps & { teamId: string }) {
  return (
    <Modal title="Spawn a teammate" isOpen={isOpen} onClose={onClose}>
      <SpawnForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

const PROGRAM = '@program';

/** The daemon's default: the team's agent, else the configured or installed one. */
const DEFAULT = '@default';

function SpawnForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const members = useTeam(({ view }) => view.members);
  const models = members.filter(({ agent }) => agent !== undefined);
  const [like, setLike] = useState(models[0]?.id ?? PROGRAM);
  const [name, setName] = useState('');
  const [role, setRole] = useState('teammate');
  const [prompt, setPrompt] = useState('');
  const [program, setProgram] = useState('');
  const [planApprovalRequired, setPlan] = useState(false);
  const spawn = async (signal: AbortSignal): Promise<void> => {
    const model = models.find(({ id }) => id === like);
    const own: AgentSpec = { kind: 'exec', command: wordsOf(program) };
    const agent = model?.agent ?? (like === DEFAULT ? undefined : own);
    const place = model?.cwd === undefined ? {} : { cwd: model.cwd };
    const given = { teamId, name, role, prompt, planApprovalRequired, ...(agent && { agent }), ...place };
    await call('member.spawn', given, { signal });
    say(`${name} is starting`);
  };
  const choices = models.map(({ id, agent }) => [id, `the same as ${id} (${agent?.name ?? agent?.kind})`] as const);
  return (
    <Form verb="Spawn" submit={spawn} onClose={onClose}>
      <div className="pair">
        <TextField label="Name" required value={name} onChange={setName} />
        <TextField label="Role" value={role} onChange={setRole} />
      </div>
      <ChoiceField
        label="Run by"
        value={like}
        choices={[...choices, [DEFAULT, 'the default agent'], [PROGRAM, 'a program…']]}
        onChange={setLike}
      />
      {like === PROGRAM && (
        <TextField
          label="Program and arguments"
          isMono
          required
          value={program}
          onChange={setProgram}
          placeholder={`/path/to/agent "an argument"`}
          hint="It gets each turn as JSON on standard input, and runs as you."
        />
      )}
      <TextField label="What it should know" rows={3} value={prompt} onChange={setPrompt} />
      <CheckField
        label="Its plan must be approved before it changes anything"
        isChecked={planApprovalRequired}
        onChange={setPlan}
      />
    </Form>
  );
}

/** Splits words at spaces; "quoted parts" stay together. No shell is involved. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
