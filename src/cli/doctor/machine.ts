import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Check } from './check.ts';

/** What the journal needs: node:sqlite without a flag. */
const LEAST = [22, 13] as const;

export function checkNode(): Check {
  const version = process.versions.node;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
  const found = `${version} (${process.execPath})`;
  if (isEnough) return { name: 'node', state: 'ok', found };
  return { name: 'node', state: 'fail', found, remedy: `install Node ${LEAST.join('.')} or newer` };
}

/** Programs that teams use, and for what. None of them is needed to share tasks and messages. */
const TOOLS: readonly { program: string; use: string; expected?: true }[] = [
  { program: 'git', use: 'to give each teammate a working copy of its own', expected: true },
  { program: 'tmux', use: 'to see teammates in panes' },
];

/** Agents that a team file can name, and their programs. */
const AGENTS: readonly { agent: string; title: string }[] = [
  { agent: 'claude', title: 'Claude Code' },
  { agent: 'codex', title: 'Codex' },
  { agent: 'gemini', title: 'Gemini CLI' },
  { agent: 'opencode', title: 'OpenCode' },
];

export function checkTools(environment: NodeJS.ProcessEnv): Check[] {
  return TOOLS.flatMap(({ program, use, expected }): Check[] => {
    const found = findProgram(program, environment['PATH'] ?? '');
    if (found !== undefined) return [{ name: program, state: 'ok', found }];
    if (!expected) return [{ name: program, state: 'ok', found: `not installed; needed only ${use}` }];
    return [{ name: program, state: 'warn', found: 'not installed', remedy: `install ${program} ${use}` }];
  });
}

/** Which agents could be teammates here, and how a team file names them. */
export function checkAgents(environment: NodeJS.ProcessEnv): Check[] {
  const agents = AGENTS.map((one) => ({ ...one, path: findProgram(one.agent, environment['PATH'] ?? '') }));
  const there = agents.filter(({ path }) => path !== undefined);
  const missing = agents.filter(({ path }) => path === undefined).map(({ title }) => title);
  if (there.length === 0) {
    const found = `none of ${missing.join(', ')} is on the PATH; a team of programs needs none: agent: { exec: ./work.sh }`;
    return [{ name: 'agents', state: 'ok', found }];
  }
  const others = missing.length === 0 ? '' : `; not on the PATH: ${missing.join(', ')}`;
  const found = there.map(({ title, path, agent }) => `${title} at ${path} (agent: ${agent})`).join(', ');
  return [{ name: 'agents', state: 'ok', found: `${found}${others}` }];
}

function findProgram(program: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((file) => isExecutable(file));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
