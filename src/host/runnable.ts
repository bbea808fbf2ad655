import { explainCannotLead, explainUnknown, findAgent } from '../agents/catalog.ts';
import { requireProgram, requireScript } from '../agents/program.ts';
import { catalogNameOf, hasProcess, shellTextOf } from '../core/agent.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { agentEnvironment } from './environment.ts';

/** An agent, and where it is to work. */
export interface Wanted {
  readonly spec: AgentSpec;
  /** Where nobody said it, it works in a folder of its team's own. */
  readonly cwd: string | undefined;
  /** It is to lead its team. */
  readonly leads?: boolean;
}

/** What to do about a program that is there, but not for us. */
const ELSEWHERE =
  'if your shell does find it, the daemon was started with another PATH: troupe stop, and the same command again';

/** Refuses agents that could not be started, with all that is in the way: who installs one should not hear of the next only then. */
export function requireAllRunnable(
  agents: readonly Wanted[],
  ours?: Readonly<Record<string, string | undefined>>,
): void {
  const problems = new Set<string>();
  for (const one of agents) {
    try {
      requireRunnable(one, ours);
    } catch (error) {
      if (!(error instanceof TeamError) || error.code !== 'invalid') throw error;
      problems.add(error.message);
    }
  }
  if (problems.size === 0) return;
  throw new TeamError('invalid', problems.size === 1 ? [...problems].join('') : withOneEnd([...problems]));
}

/** What holds for all of them is said once. */
function withOneEnd(problems: readonly string[]): string {
  const lines = problems.map((text) => text.replace(`; ${ELSEWHERE}`, ''));
  const isCommon = lines.some((line, i) => line !== problems[i]);
  const end = ELSEWHERE.replace('if your shell does find it', 'If your shell does find them');
  return [...lines, ...(isCommon ? [end] : [])].join('\n');
}

/**
 * Refuses an agent that could not be started: said once and before there is a team, not by members that crash one after
 * the other. `ours` is the environment in which it would be looked for; without one, other machines may have its program.
 */
export function requireRunnable(
  { spec, cwd, leads }: Wanted,
  ours?: Readonly<Record<string, string | undefined>>,
): void {
  if (!hasProcess(spec)) return;
  const name = catalogNameOf(spec);
  const cannotLead = leads ? explainCannotLead(name) : undefined;
  if (cannotLead !== undefined) throw new TeamError('invalid', cannotLead);
  const known = findAgent(name);
  const program = spec.command?.[0] ?? known?.program;
  if (program === undefined) throw new TeamError('invalid', explainUnknown(name) ?? `The agent ${name} has no program`);
  if (!ours) return;
  const env = agentEnvironment(ours, { ...(spec.env && { added: spec.env }), team: {} });
  const next = spec.command ? undefined : [known?.install, ELSEWHERE].filter(Boolean).join('; ');
  requireProgram(program, { cwd, env }, next);
  const text = shellTextOf(spec.command ?? []);
  if (text !== undefined && cwd !== undefined) requireScript(text, cwd);
  for (const needed of known?.needs ?? []) requireProgram(needed.program, { cwd, env }, needed.next);
}
