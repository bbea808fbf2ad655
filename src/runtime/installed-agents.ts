import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { AGENTS, NAMELESS } from '../agents/catalog.ts';
import { loginStateOf } from '../agents/login-state.ts';
import type { LoginState } from '../agents/login-state.ts';
import { findProgram } from '../agents/program.ts';
import type { AgentRow } from '../agents/row.ts';

/** An agent from the catalog, and whether it is on this machine. */
export interface InstalledAgent extends Omit<
  AgentRow,
  'env' | 'clouds' | 'foreign' | 'variantOf' | 'isClaudeCode' | 'needs' | 'versions' | 'login' | 'obeys' | 'takes'
> {
  readonly name: string;
  /** The program's file; missing if it is not installed, or if the user must name it. */
  readonly path?: string;
  readonly version?: string;
  /** Of an agent with logins: whether there is one, and the command that makes one. */
  readonly loginState?: LoginState;
  readonly loginCommand?: string;
}

/**
 * A program that does not report its version in this time is listed without it. Gemini CLI needs 3 s, even with nothing
 * else running.
 */
const VERSION_MS = 20_000;

/** Versions by file and time of change: asking costs a program start. */
const versions = new Map<string, Promise<string | undefined>>();

/**
 * Every agent in the catalog, with its program on the path. Programs are asked only for their version; with `quick` not
 * even that.
 */
export function listAgents(
  environment: Readonly<Record<string, string | undefined>>,
  { quick = false } = {},
): Promise<InstalledAgent[]> {
  const rows: [string, AgentRow][] = [...Object.entries(AGENTS), ...Object.entries(NAMELESS)];
  return Promise.all(
    rows.map(async ([name, agent]) => {
      const { title, kind, program, install, abilities, cost, holds, known } = agent;
      const row = { name, title, kind, program, install, abilities, cost, holds, known };
      const path = program === '' ? undefined : findProgram(program, { cwd: '/', env: environment });
      if (path === undefined) return row;
      const version = quick ? undefined : await versionOf(path, environment);
      const { login } = agent;
      return {
        ...row,
        path,
        ...(version !== undefined && { version }),
        ...(login && { loginState: loginStateOf(agent, environment), loginCommand: login.command }),
      };
    }),
  );
}

/** The names of agents whose program is on the path; starts nothing. */
export function installedNames(environment: Readonly<Record<string, string | undefined>>): string[] {
  const isHere = ([, { program }]: [string, AgentRow]): boolean =>
    findProgram(program, { cwd: '/', env: environment }) !== undefined;
  return Object.entries(AGENTS)
    .filter(isHere)
    .map(([name]) => name);
}

function versionOf(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const key = `${path} ${statSync(path).mtimeMs}`;
  const known = versions.get(key) ?? askVersion(path, environment);
  versions.set(key, known);
  return known;
}

function askVersion(
  path: string,
  { PATH, HOME }: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: { PATH, HOME }, timeout: VERSION_MS, killSignal: 'SIGKILL' } as const;
    execFile(path, ['--version'], options, (_error, stdout) => resolve(/\d+\.\d+[\w.-]*/.exec(stdout)?.[0]));
  });
}
