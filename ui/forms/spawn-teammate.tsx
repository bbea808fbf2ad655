import { useState } from 'react';
import { agentNamed, hasProcess } from '../../src/client/replica.ts';
import type { InputOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { FailureNote } from '../parts/failure.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { AgentFields, isReady, useAgents } from './agent-fields.tsx';
import { CheckField, Form, TextField } from './form.tsx';
import type { FormProps } from './form.tsx';
import { problemOfBudget, PROGRAM } from './team-source.ts';
import type { WantedAgent } from './team-source.ts';
import './start-team.css';

/** Starts a teammate: like an existing one, with a named agent, or with a program. */
export function SpawnTeammate({ teamId, isOpen, onClose }: FormProps & { teamId: string }) {
  return (
    <Modal title="Spawn a teammate" isOpen={isOpen} onClose={onClose} isWide>
      <SpawnForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

/** The daemon's default: the team's agent, else the configured or installed one. */
const DEFAULT = '@default';

/** Before the name of a member whose agent is taken. */
const LIKE = '@like ';

function SpawnForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const members = useTeam(({ view }) => view.members);
  // The others run in the process that registered them, which only that process can do.
  const models = members.filter(({ agent }) => agent !== undefined && hasProcess(agent));
  const { agents = [], failure } = useAgents();
  const [chosen, setWanted] = useState<WantedAgent>({
    agent: models[0] ? `${LIKE}${models[0].id}` : '',
    model: '',
    mode: '',
    program: '',
  });
  // Without a member to copy, an agent that can begin at once.
  const first = agents.find(isReady)?.name ?? PROGRAM;
  const wanted = { ...chosen, agent: chosen.agent || first };
  const [name, setName] = useState('');
  const [role, setRole] = useState('teammate');
  const [prompt, setPrompt] = useState('');
  const [budget, setBudget] = useState('');
  const [planApprovalRequired, setPlan] = useState(false);
  const isTaken = members.some(({ id }) => id === name.trim());
  const problem = problemOfBudget(budget);
  const spawn = async (signal: AbortSignal): Promise<void> => {
    const like = models.find(({ id }) => `${LIKE}${id}` === wanted.agent);
    const agent = like?.agent ?? (wanted.agent === DEFAULT ? undefined : specOf(wanted));
    const given: InputOf<'member.spawn'> = {
      teamId,
      name: name.trim(),
      role,
      prompt,
      planApprovalRequired,
      ...(agent !== undefined && { agent }),
      ...(like?.cwd !== undefined && { cwd: like.cwd }),
      ...(budget.trim() !== '' && { budget: { costUsd: Number(budget) } }),
    };
    await call('member.spawn', given, { signal });
    say(`${name.trim()} is starting`);
  };
  return (
    <Form verb="Spawn" submit={spawn} onClose={onClose} isBlocked={isTaken || problem !== undefined}>
      <FailureNote failure={failure} />
      <div className="pair">
        <TextField
          label="Name"
          required
          value={name}
          onChange={setName}
          problem={isTaken ? `There is a member named ${name.trim()} already.` : undefined}
        />
        <TextField label="Role" value={role} onChange={setRole} />
      </div>
      <AgentFields
        label="Run by"
        agents={agents}
        value={wanted}
        others={[
          ...models.map(
            ({ id, agent }) => [`${LIKE}${id}`, `the same as ${id} (${agent?.name ?? agent?.kind})`] as const,
          ),
          [DEFAULT, 'the default agent'],
        ]}
        onChange={setWanted}
      />
      <TextField label="What it should know" rows={3} value={prompt} onChange={setPrompt} />
      <TextField
        label="Budget in US dollars"
        value={budget}
        onChange={setBudget}
        placeholder="only the team’s"
        problem={problem}
      />
      <CheckField
        label="Its plan must be approved before it changes anything"
        isChecked={planApprovalRequired}
        onChange={setPlan}
      />
    </Form>
  );
}

/** The agent as the daemon takes it. */
function specOf({ agent, model, mode, program }: WantedAgent): object {
  if (agent === PROGRAM) return { exec: program };
  return {
    ...agentNamed(agent),
    ...(model.trim() !== '' && { model: model.trim() }),
    ...(mode !== '' && { mode }),
  };
}
