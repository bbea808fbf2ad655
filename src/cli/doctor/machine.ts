import { AGENTS, findProgram } from '../../client/agents.ts';
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
  return [{ name: 'agents', state: 'ok', found: `${found}${others}` }];
}
