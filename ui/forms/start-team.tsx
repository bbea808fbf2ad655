import { Plus } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { call } from '../data/daemon.ts';
import { navigate, teamPath } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import { teams } from '../data/teams.ts';
import { FailureNote } from '../parts/failure.tsx';
import { Modal } from '../parts/modal.tsx';
import { AgentFields, useAgents } from './agent-fields.tsx';
import { CheckView, problemsIn } from './check-view.tsx';
import { ChoiceField, Form, TextField } from './form.tsx';
import type { FormProps } from './form.tsx';
import { KeepFile } from './keep-file.tsx';
import { nameOf, problemOfBudget, PROGRAM, sourceOf } from './team-source.ts';
import type { WantedTeam } from './team-source.ts';
import { useCheck } from './use-check.ts';
import './start-team.css';

/** Starts a team for a goal: where it works, who works, and how much it may use. */
export function StartTeam({ isOpen, onClose }: FormProps) {
  return (
    <Modal title="Start work" isOpen={isOpen} onClose={onClose} isWide>
      <StartForm onClose={onClose} />
    </Modal>
  );
}

const WORKSPACES = [
  ['', 'own copies, if in git'],
  ['own', 'own copies, else refuse'],
  ['shared', 'all in this folder'],
] as const;

const NOBODY = { agent: '', model: '', mode: '', program: '' } as const;

function StartForm({ onClose }: { onClose: () => void }) {
  const { agents, failure } = useAgents();
  const [folder, setFolder] = useState('');
  const [isRead, setRead] = useState(false);
  const [wanted, setWanted] = useState<WantedTeam>({
    name: '',
    goal: '',
    lead: NOBODY,
    members: [],
    budget: '',
    workspaces: '',
  });
  const problems = useProblems(wanted, folder);
  const name = useName(wanted);
  const lead = { ...wanted.lead, agent: wanted.lead.agent || (agents?.[0]?.name ?? '') };
  const isFilled =
    wanted.goal.trim() !== '' &&
    folder !== '' &&
    [lead, ...wanted.members].every(({ agent, program }) => (agent === PROGRAM ? program.trim() !== '' : agent !== ''));
  const isReady = isFilled && Object.values(problems).every((one) => one === undefined);
  const source = useMemo(() => sourceOf({ ...wanted, name, lead }), [wanted, name, lead.agent]);
  const check = useCheck(isReady ? source : undefined, folder);
  const { found } = check ?? {};
  const hashes = found?.unapproved.map(({ hash }) => hash).join(' ') ?? '';
  // An approval is for what was shown.
  useEffect(() => setRead(false), [hashes]);
  const change = (facts: Partial<WantedTeam>): void => setWanted({ ...wanted, ...facts });
  const start = async (signal: AbortSignal): Promise<void> => {
    if (!found) return;
    const approve = found.unapproved.map(({ hash }) => hash);
    const team = await call('team.up', { source, folder, approve }, { signal });
    navigate(teamPath(team.id));
  };
  const isBlocked =
    !isReady ||
    !found ||
    problemsIn(found).length > 0 ||
    (found.unapproved.length > 0 && !isRead) ||
    check?.source !== source;
  return (
    <Form verb="Start" busyVerb="Starting…" className="start" isBlocked={isBlocked} submit={start} onClose={onClose}>
      <FailureNote failure={failure} />
      <TextField
        label="Folder"
        isMono
        required
        value={folder}
        onChange={setFolder}
        placeholder="/home/me/project"
        hint="On the machine of the daemon. In a git repository each member gets its own copy."
        problem={problems.folder}
      />
      <TextField
        label="Goal"
        required
        rows={3}
        value={wanted.goal}
        onChange={(goal) => change({ goal })}
        placeholder="What should be done? The lead makes tasks of it."
      />
      {agents && (
        <>
          <AgentFields
            group="Lead"
            label="Lead"
            agents={agents}
            value={lead}
            onChange={(agent) => change({ lead: agent })}
          />
          {wanted.members.map((member, i) => (
            <AgentFields
              key={i}
              group={`Teammate ${i + 1}`}
              label={`Teammate ${i + 1}`}
              agents={agents}
              value={member}
              onChange={(agent) => change({ members: wanted.members.with(i, agent) })}
              onRemove={() => change({ members: wanted.members.toSpliced(i, 1) })}
            />
          ))}
          <div>
            <button
              type="button"
              className="button small"
              onClick={() => change({ members: [...wanted.members, { ...lead }] })}
            >
              <Plus size={14} aria-hidden /> Add a teammate
            </button>
          </div>
        </>
      )}
      <div className="start-row">
        <TextField
          label="Name"
          value={wanted.name}
          onChange={(given) => change({ name: given })}
          placeholder={wanted.goal.trim() === '' ? 'from the goal' : name}
          problem={problems.name}
        />
        <TextField
          label="Budget in US dollars"
          value={wanted.budget}
          onChange={(budget) => change({ budget })}
          placeholder="no limit"
          problem={problems.budget}
        />
        <ChoiceField
          label="Workspaces"
          value={wanted.workspaces}
          choices={WORKSPACES}
          onChange={(workspaces) => change({ workspaces })}
        />
      </div>
      {isReady && <CheckView check={check} isRead={isRead} onRead={setRead} />}
      {isReady && <KeepFile source={source} folder={folder} />}
    </Form>
  );
}

/** The name of the new team: `team.up` would add to a team that has the same name, so a made name is a free one. */
function useName({ name, goal }: WantedTeam): string {
  const list = useSignal(teams) ?? [];
  return nameOf({ name, goal }, new Set(list.map(({ id }) => id)));
}

/** What is wrong with a field, before the daemon is asked. */
function useProblems({ name, budget }: WantedTeam, folder: string) {
  const list = useSignal(teams) ?? [];
  const isTaken = list.some(({ id }) => id === name.trim());
  return {
    folder: folder === '' || folder.startsWith('/') ? undefined : 'Give the whole path: it begins with /.',
    name: isTaken ? `There is a team named ${name.trim()} already.` : undefined,
    budget: problemOfBudget(budget),
  };
}
