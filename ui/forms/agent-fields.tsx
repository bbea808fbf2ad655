import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { ChoiceField, TextField } from './form.tsx';
import { PROGRAM } from './team-source.ts';
import type { WantedAgent } from './team-source.ts';

/** An agent that Troupe can run, and what is known of it on the daemon's machine. */
export type Listed = ResultOf<'agent.list'>[number];

const MODES = [
  ['', 'as the agent is set up'],
  ['plan', 'only read and plan'],
  ['edit', 'edit files; ask for the rest'],
  ['full', 'everything without asking'],
] as const;

/** Which agent, with which model, and what it may do. */
export function AgentFields({
  label,
  agents,
  value,
  others,
  group,
  onChange,
  onRemove,
}: {
  label: string;
  /** The name of the whole, if a form has several. */
  group?: string;
  agents: readonly Listed[];
  value: WantedAgent;
  /** Further choices, before the agents. */
  others?: readonly (readonly [value: string, words: string])[];
  onChange: (value: WantedAgent) => void;
  onRemove?: () => void;
}) {
  const chosen = agents.find(({ name }) => name === value.agent);
  const isProgram = value.agent === PROGRAM;
  return (
    <fieldset className="start-agent" aria-label={group}>
      <div className="start-row">
        <ChoiceField
          label={label}
          value={value.agent}
          choices={[
            ...(others ?? []),
            ...agents.map((one) => [one.name, wordAgent(one)] as const),
            [PROGRAM, 'a program…'],
          ]}
          onChange={(agent) => onChange({ ...value, agent })}
        />
        {(chosen !== undefined || isProgram) && (
          <>
            {isProgram ? (
              <TextField
                label="Command"
                isMono
                required
                value={value.program}
                onChange={(program) => onChange({ ...value, program })}
                placeholder="./work.sh"
              />
            ) : (
              <TextField
                label="Model"
                value={value.model}
                onChange={(model) => onChange({ ...value, model })}
                placeholder="its default"
              />
            )}
            {!isProgram && (
              <ChoiceField
                label="May"
                value={value.mode}
                choices={MODES}
                onChange={(mode) => onChange({ ...value, mode })}
              />
            )}
          </>
        )}
        {onRemove && (
          <IconButton label={`Remove ${label}`} onClick={onRemove}>
            <X size={16} aria-hidden />
          </IconButton>
        )}
      </div>
      {isProgram && (
        <p className="hint">
          A shell command. It gets each turn as JSON on standard input, and runs as you in the folder of its member.
        </p>
      )}
      {chosen && <Missing agent={chosen} />}
    </fieldset>
  );
}

/** What an agent lacks on the daemon's machine, and the command that helps. */
function Missing({ agent: { title, path, install, loginState, loginCommand } }: { agent: Listed }) {
  if (path === undefined) {
    return (
      <p className="hint start-missing">
        {title} is not installed on the daemon’s machine: <code className="mono">{install}</code>
      </p>
    );
  }
  if (loginState !== 'none') return null;
  return (
    <p className="hint start-missing">
      No login of {title} was found. Log in on the daemon’s machine: <code className="mono">{loginCommand}</code>
    </p>
  );
}

function wordAgent(agent: Listed): string {
  const { title, path, loginState } = agent;
  if (path === undefined) return `${title} (not installed)`;
  return loginState === 'none' ? `${title} (no login found)` : title;
}

/** Whether an agent can begin at once, as far as that is known. */
export function isReady({ path, loginState }: Listed): boolean {
  return path !== undefined && loginState !== 'none';
}

/** Those that can begin at once come first, then those without a login, then those that are not installed. */
export function byReadiness(agents: readonly Listed[]): Listed[] {
  const place = (one: Listed): number => (isReady(one) ? 0 : one.path === undefined ? 2 : 1);
  return agents.filter(({ program }) => program !== '').toSorted((a, b) => place(a) - place(b));
}

/** The agents that have a name, the ready ones first. */
export function useAgents(): { agents: readonly Listed[] | undefined; failure: Failure | undefined } {
  const [agents, setAgents] = useState<readonly Listed[]>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    call('agent.list', { quick: true }).then(
      (all) => setAgents(byReadiness(all)),
      (error: unknown) => setFailure(failureOf(error)),
    );
  }, []);
  return { agents, failure };
}
