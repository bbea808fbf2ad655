import { Download, Plus, X } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { navigate, teamPath } from '../data/route.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';
import { Modal } from '../parts/modal.tsx';
import { CheckView, problemsIn } from './check-view.tsx';
import { ChoiceField, Form, TextField } from './form.tsx';
import type { FormProps } from './form.tsx';
import { sourceOf } from './team-source.ts';
import type { WantedAgent, WantedTeam } from './team-source.ts';
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

type Listed = ResultOf<'agent.list'>[number];

const MODES = [
  ['', 'as the agent is set up'],
  ['plan', 'only read and plan'],
  ['edit', 'edit files; ask for the rest'],
  ['full', 'everything without asking'],
] as const;

const WORKSPACES = [
  ['', 'own copies, if in git'],
  ['own', 'own copies, else refuse'],
  ['shared', 'all in this folder'],
] as const;

function StartForm({ onClose }: { onClose: () => void }) {
  const { agents, failure } = useAgents();
  const [folder, setFolder] = useState('');
  const [isRead, setRead] = useState(false);
  const [wanted, setWanted] = useState<WantedTeam>({
    name: '',
    goal: '',
    lead: { agent: '', model: '', mode: '' },
    members: [],
    budget: '',
    workspaces: '',
  });
  const first = agents?.[0]?.name ?? '';
  const lead = { ...wanted.lead, agent: wanted.lead.agent || first };
  const isReady = wanted.goal.trim() !== '' && folder.startsWith('/') && lead.agent !== '';
  const source = useMemo(() => sourceOf({ ...wanted, lead }), [wanted, lead.agent]);
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
    !found || problemsIn(found).length > 0 || (found.unapproved.length > 0 && !isRead) || check?.source !== source;
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
          <AgentFields label="Lead" agents={agents} value={lead} onChange={(agent) => change({ lead: agent })} />
          {wanted.members.map((member, i) => (
            <AgentFields
              key={i}
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
        <TextField label="Name" value={wanted.name} onChange={(name) => change({ name })} placeholder="from the goal" />
        <TextField
          label="Budget in US dollars"
          value={wanted.budget}
          onChange={(budget) => change({ budget })}
          placeholder="no limit"
        />
        <ChoiceField
          label="Workspaces"
          value={wanted.workspaces}
          choices={WORKSPACES}
          onChange={(workspaces) => change({ workspaces })}
        />
      </div>
      {isReady && <CheckView check={check} isRead={isRead} onRead={setRead} />}
      {isReady && <KeepFile source={source} />}
    </Form>
  );
}

function AgentFields({
  label,
  agents,
  value,
  onChange,
  onRemove,
}: {
  label: string;
  agents: readonly Listed[];
  value: WantedAgent;
  onChange: (value: WantedAgent) => void;
  onRemove?: () => void;
}) {
  return (
    <fieldset className="start-row" aria-label={label}>
      <ChoiceField
        label={label}
        value={value.agent}
        choices={agents.map(({ name, title, path }) => [name, path === undefined ? `${title} (not installed)` : title])}
        onChange={(agent) => onChange({ ...value, agent })}
      />
      <TextField
        label="Model"
        value={value.model}
        onChange={(model) => onChange({ ...value, model })}
        placeholder="its default"
      />
      <ChoiceField label="May" value={value.mode} choices={MODES} onChange={(mode) => onChange({ ...value, mode })} />
      {onRemove && (
        <button type="button" className="button ghost icon" aria-label={`Remove ${label}`} onClick={onRemove}>
          <X size={16} aria-hidden />
        </button>
      )}
    </fieldset>
  );
}

/** The same team as a file, for the next time: `troupe up` in its folder starts it. */
function KeepFile({ source }: { source: string }) {
  const download = (): void => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([source], { type: 'text/yaml' }));
    link.download = 'troupe.yaml';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <details className="start-file">
      <summary>This team as a file</summary>
      <pre className="code">{source}</pre>
      <button type="button" className="button small" onClick={download}>
        <Download size={14} aria-hidden /> Download troupe.yaml
      </button>
    </details>
  );
}

/** The agents that have a name, the installed ones first. */
function useAgents(): { agents: readonly Listed[] | undefined; failure: Failure | undefined } {
  const [agents, setAgents] = useState<readonly Listed[]>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    call('agent.list', { quick: true }).then(
      (all) => setAgents(all.filter(({ program }) => program !== '').sort((a, b) => Number(!a.path) - Number(!b.path))),
      (error: unknown) => setFailure(failureOf(error)),
    );
  }, []);
  return { agents, failure };
}
