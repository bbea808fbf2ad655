import { spawnSync } from 'node:child_process';
import { AGENTS } from '../../../agents/catalog.ts';
import { findProgram } from '../../../agents/program.ts';
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
  { program: 'tmux', use: 'to see teammates in panes, and for teammates that are claude-native' },
];

export function checkTools(environment: NodeJS.ProcessEnv): Check[] {
  return TOOLS.flatMap(({ program, use, expected }): Check[] => {
    const found = findProgram(program, { cwd: '/', env: environment });
    if (found !== undefined) return [{ name: program, state: 'ok', found }];
    if (!expected) return [{ name: program, state: 'ok', found: `not installed; needed only ${use}` }];
    return [{ name: program, state: 'warn', found: 'not installed', remedy: `install ${program} ${use}` }];
  });
}

/** Which agents could be teammates here, and how a team file names them. */
export function checkAgents(environment: NodeJS.ProcessEnv): Check[] {
  const agents = Object.entries(AGENTS).map(([name, { title, program }]) => {
    return { name, title, path: findProgram(program, { cwd: '/', env: environment }) };
  });
  const there = agents.filter(({ path }) => path !== undefined);
  if (there.length === 0) {
    const found = 'none is on the PATH (troupe agents lists those that could be); a team of programs needs none';
    return [{ name: 'agents', state: 'ok', found }];
  }
  const others = there.length === agents.length ? '' : '; troupe agents lists the others';
  const found = there.map(({ title, path, name }) => `${title} at ${path} (agent: ${name})`).join(', ');
  const claude = there.find(({ name }) => name === 'claude-native')?.path;
  return [{ name: 'agents', state: 'ok', found: `${found}${others}` }, ...checkClaudeNative(claude, environment)];
}

/** The versions of Claude Code whose teams were measured, from the first to the last. */
const MEASURED = ['2.1.37', '2.1.325'] as const;

/** How long a program may take to say its version. */
const VERSION_MS = 20_000;

/** Whether Claude Code could be a teammate in a terminal: with tmux, in a version whose ways are known. */
function checkClaudeNative(claude: string | undefined, environment: NodeJS.ProcessEnv): Check[] {
  const name = 'claude-native';
  if (claude === undefined) return [];
  const { PATH, HOME } = environment;
  if (findProgram('tmux', { cwd: '/', env: environment }) === undefined) {
    return [{ name, state: 'ok', found: 'not possible without tmux; agent: claude needs none' }];
  }
  const asked = spawnSync(claude, ['--version'], { encoding: 'utf8', env: { PATH, HOME }, timeout: VERSION_MS });
  const version = /\d+\.\d+\.\d+/.exec(asked.stdout ?? '')?.[0];
  if (version === undefined) {
    return [{ name, state: 'warn', found: `${claude} does not say its version`, remedy: `try ${claude} --version` }];
  }
  const found = `Claude Code ${version} in tmux (agent: claude-native)`;
  if (!isOlder(version, MEASURED[0]) && !isOlder(MEASURED[1], version)) return [{ name, state: 'ok', found }];
  const remedy = `its teams were measured from ${MEASURED[0]} to ${MEASURED[1]}; if it does not work, take agent: claude`;
  return [{ name, state: 'warn', found, remedy }];
}

function isOlder(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) < 0;
}
