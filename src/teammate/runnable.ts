import { UNKNOWN_ACP } from '../agents/acp/agents.ts';
import { explainUnknown, findAgent, NAMELESS } from '../agents/catalog.ts';
import { requireProgram, requireScript } from '../agents/program.ts';
import type { AgentRow } from '../agents/row.ts';
import { requireSandbox } from '../agents/sandbox/able.ts';
import { requireOutside, requireWritten } from '../agents/sandbox/walls.ts';
import { findUserHome } from '../agents/user-home.ts';
import { catalogNameOf, hasProcess, isNativeAgent, isTeamAgent, requireTeamFile } from '../core/agent-kinds.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { sandboxOf } from '../core/sandbox.ts';
import { shellTextOf } from '../core/shell.ts';
import { agentEnvironment } from './environment.ts';
import { readSkills, requireExtras } from './extras.ts';

/** An agent and its working folder. */
export interface Wanted {
  readonly spec: AgentSpec;
  /** Without one, it works in its team's own folder. */
  readonly cwd: string | undefined;
}

interface RunnableOptions {
  /** Whether the environment is that of the command, not of whoever started the daemon. */
  readonly isCallers?: boolean;
  /** The state directory of the daemon, which no sandbox may open. */
  readonly state?: string | undefined;
}

/** What to do about a program that exists, but not on our PATH. */
const ELSEWHERE =
  'if your shell finds it, the daemon was started with another PATH: troupe stop, then the same command again';

/** Refuses agents that could not be started, with all problems at once, so that fixing one does not reveal the next. */
export function requireAllRunnable(
  agents: readonly Wanted[],
  ours?: Readonly<Record<string, string | undefined>>,
  { isCallers = false, state }: RunnableOptions = {},
): void {
  const problems = new Map<string, TeamError>();
  for (const one of agents) {
    try {
      requireRunnable(one, ours, { isCallers, state });
    } catch (error) {
      if (!(error instanceof TeamError) || error.code !== 'invalid') throw error;
      problems.set(error.message, error);
    }
  }
  const [only, ...others] = problems.values();
  if (!only) return;
  throw others.length === 0 ? only : new TeamError('invalid', withOneEnd([...problems.keys()]));
}

/** Says only once what applies to all of them. */
function withOneEnd(problems: readonly string[]): string {
  const lines = problems.map((text) => text.replace(`; ${ELSEWHERE}`, ''));
  const isCommon = lines.some((line, i) => line !== problems[i]);
  const end = ELSEWHERE.replace('if your shell finds it', 'If your shell finds them');
  return [...lines, ...(isCommon ? [end] : [])].join('\n');
}

/**
 * Refuses an agent that could not be started: once and before there is a team, instead of by members that crash one
 * after another. `ours` is the environment to search for its program; without it, other machines may have the program.
 */
export function requireRunnable(
  { spec, cwd }: Wanted,
  ours?: Readonly<Record<string, string | undefined>>,
  { isCallers = false, state }: RunnableOptions = {},
): void {
  const name = catalogNameOf(spec);
  const known = findAgent(name);
  requireBoxable(spec, known);
  const program = spec.command?.[0] ?? known?.program;
  if (isTeamAgent(spec)) return requireTeamFile(spec);
  if (program === undefined && hasProcess(spec)) {
    throw new TeamError('invalid', explainUnknown(name) ?? `The agent ${name} has no program`);
  }
  requireExtras(spec, known ?? NAMELESS[spec.kind] ?? UNKNOWN_ACP);
  if (program === undefined) return;
  if (!ours) return;
  if (cwd !== undefined) readSkills(spec.skills ?? [], [cwd]);
  const env = agentEnvironment(ours, { ...(spec.env && { added: spec.env }), team: {} });
  const hints = [known?.install, isCallers ? undefined : ELSEWHERE].filter(Boolean).join('; ');
  const next = spec.command || hints === '' ? undefined : hints;
  requireProgram(program, { cwd, env }, next);
  const text = shellTextOf(spec.command ?? []);
  if (text !== undefined && cwd !== undefined) requireScript(text, cwd);
  for (const needed of known?.needs ?? []) requireProgram(needed.program, { cwd, env }, needed.next);
  const box = sandboxOf(spec.sandbox);
  if (!box) return;
  const home = findUserHome(env);
  if (state !== undefined) requireOutside([...(box.read ?? []), ...(box.write ?? [])], { home, state });
  requireSandbox(ours);
  requireWritten(box.write ?? [], home);
}

/** Refuses a sandbox for what cannot run in one: a sandbox that was asked for is never left out. */
function requireBoxable(spec: AgentSpec, known: AgentRow | undefined): void {
  const sandbox = sandboxOf(spec.sandbox);
  if (!sandbox) return;
  const name = catalogNameOf(spec);
  const refuse = (why: string): never => {
    throw new TeamError('invalid', `The agent ${name} cannot run in a sandbox: ${why}`);
  };
  if (!hasProcess(spec)) refuse('it is a function of this process');
  if (isNativeAgent(spec)) refuse('its terminal, tmux, is outside of it. Use the agent claude');
  if (known?.boxesCommands && spec.mode !== 'full') {
    refuse('its commands run in a sandbox of its own, which cannot be made inside of another. Give it mode: full');
  }
  if (sandbox.network === 'none' && known?.login) {
    refuse(
      'without a network it cannot reach its model. Leave network out: then it reaches its model and its daemon only',
    );
  }
}
