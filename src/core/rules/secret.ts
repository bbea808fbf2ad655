import type { AgentSpec } from '../agent.ts';
import { TeamError } from '../errors.ts';
import { findInCommand, findSecrets } from '../secret.ts';

/** An agent spec is stored, so it must only name secrets; their values stay where the member runs. */
export function requireNoSecrets(agent: AgentSpec | undefined, whose: string): void {
  const [found] = agent ? findSecrets(agent) : [];
  if (!found) return;
  const [key, step] = found.path;
  throw new TeamError(
    'invalid',
    `${key}${typeof step === 'number' ? `[${step}]` : `.${step}`} of ${whose} ${found.problem}`,
  );
}

/** The same for a command that is stored. */
export function requireNoSecretIn(command: string, whose: string): void {
  const problem = findInCommand(command);
  if (problem !== undefined) throw new TeamError('invalid', `The command of ${whose} ${problem}`);
}
