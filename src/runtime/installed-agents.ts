import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { AGENTS, NAMELESS } from '../agents/catalog.ts';
import { findProgram } from '../agents/program.ts';
import type { AgentRow } from '../agents/row.ts';

/** What is known of an agent, and whether it is on this machine. */
export interface InstalledAgent extends Omit<
  AgentRow,
  'env' | 'clouds' | 'foreign' | 'canLead' | 'variantOf' | 'needs' | 'versions'
> {
  readonly name: string;
  /** The file that would be run; nothing where it is not installed, or is the user's to name. */
  readonly path?: string;
  readonly version?: string;
}

/** A program that does not say its version within this is listed without. Gemini CLI needs 3 s when it is alone. */
const VERSION_MS = 20_000;

/** Versions by file and time of change: asking costs a start. */
const versions = new Map<string, Promise<string | undefined>>();

/** Every agent in the table, with what is found on the path. Programs are asked for their version, and nothing else; not even that when it has to be quick. */
export function listAgents(
  environment: Readonly<Record<string, string | undefined>>,
  { quick = false } = {},
): Promise<InstalledAgent[]> {
  const rows: [string, AgentRow][] = [...Object.entries(AGENTS), ...Object.entries(NAMELESS)];
  return Promise.all(
    rows.map(async ([name, { title, kind, program, install, abilities, cost, holds, known }]) => {
      const row = { name, title, kind, program, install, abilities, cost, holds, known };
      const path = program === '' ? undefined : findProgram(program, { cwd: '/', env: environment });
      if (path === undefined) return row;
      const version = quick ? undefined : await versionOf(path, environment);
      return { ...row, path, ...(version !== undefined && { version }) };
    }),
  );
}

/** The names of the agents whose program is on the path; nothing is started. */
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
