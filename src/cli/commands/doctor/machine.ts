import { spawnSync } from 'node:child_process';
import { AGENTS, findAgent } from '../../../agents/catalog.ts';
import { findProgram } from '../../../agents/program.ts';
import type { AgentRow } from '../../../agents/row.ts';
import { findSandbox } from '../../../agents/sandbox/able.ts';
import type { Check } from './check.ts';

/** The journal needs node:sqlite without a flag. */
const LEAST = [22, 13] as const;

export function checkNode(): Check {
  const version = process.versions.node;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
  const found = `${version} (${process.execPath})`;
  if (isEnough) return { name: 'node', state: 'ok', found };
  return { name: 'node', state: 'fail', found, remedy: `install Node ${LEAST.join('.')} or newer` };
}

/** The agents that need this program besides their own. */
const inNeedOf = (program: string): string =>
  Object.keys(AGENTS)
    .filter((name) => findAgent(name)?.needs?.some((needed) => needed.program === program))
    .join(' or ');

/** Programs that teams use. None of them is needed to share tasks and messages. */
const TOOLS: readonly { program: string; use: string }[] = [
  { program: 'tmux', use: `to see teammates in panes, and for teammates that are ${inNeedOf('tmux')}` },
];

export function checkTools(environment: NodeJS.ProcessEnv): Check[] {
  const others = TOOLS.map(({ program, use }): Check => {
    const found = findProgram(program, { cwd: '/', env: environment });
    return { name: program, state: 'ok', found: found ?? `not installed; needed only ${use}` };
  });
  return [checkGit(environment), ...others, checkSandbox(environment)];
}

/** Whether members, gates and setups can run in a sandbox here. None does unless somebody asks for it. */
function checkSandbox(environment: NodeJS.ProcessEnv): Check {
  const { program, why, next } = findSandbox(environment);
  const name = 'sandbox';
  if (program === undefined) {
    return { name, state: 'ok', found: `none, and none is needed (${why}; to have one, ${next})` };
  }
  const untested = process.platform === 'darwin' ? '; never tested on macOS' : '';
  return { name, state: 'ok', found: `works, by ${program}${untested}` };
}

/** The oldest git that can merge without a folder. */
const LEAST_GIT = [2, 38] as const;

/** Without a new enough git, members share folders. */
function checkGit(environment: NodeJS.ProcessEnv): Check {
  const path = findProgram('git', { cwd: '/', env: environment });
  const remedy = `install git ${LEAST_GIT.join('.')} or newer; without it, members share one folder`;
  if (path === undefined) return { name: 'git', state: 'warn', found: 'not installed', remedy };
  const { stdout } = spawnSync(path, ['--version'], { env: environment, encoding: 'utf8', timeout: VERSION_MS });
  const [, version = '', major = '0', minor = '0'] = /((\d+)\.(\d+)[\w.]*)/.exec(stdout) ?? [];
  const found = version === '' ? path : `${version} at ${path}`;
  const isEnough = Number(major) > LEAST_GIT[0] || (Number(major) === LEAST_GIT[0] && Number(minor) >= LEAST_GIT[1]);
  return isEnough ? { name: 'git', state: 'ok', found } : { name: 'git', state: 'warn', found, remedy };
}

/** Which agents are installed here, and how a team file names them. */
export function checkAgents(environment: NodeJS.ProcessEnv): Check[] {
  const rows: [string, AgentRow][] = Object.entries(AGENTS);
  const agents = rows.map(([name, row]) => {
    return { name, row, path: findProgram(row.program, { cwd: '/', env: environment }) };
  });
  const there = agents.filter(({ path }) => path !== undefined);
  if (there.length === 0) {
    const found = 'none is on the PATH (troupe agents lists them all); a team of programs needs none';
    return [{ name: 'agents', state: 'ok', found }];
  }
  const others = there.length === agents.length ? '' : '; troupe agents lists the others';
  const found = there.map(({ row, path, name }) => `${row.title} at ${path} (agent: ${name})`).join(', ');
  const special = there.flatMap(({ name, row, path = '' }) => checkSpecial(name, row, { path, environment }));
  return [{ name: 'agents', state: 'ok', found: `${found}${others}` }, ...special];
}

/** How long a program may take to print its version. */
const VERSION_MS = 20_000;

/** Checks an agent that needs more than its program: the other programs, and a supported version. */
function checkSpecial(
  name: string,
  { needs = [], variantOf, versions }: AgentRow,
  { path, environment }: { path: string; environment: NodeJS.ProcessEnv },
): Check[] {
  if (!versions) return [];
  const { PATH, HOME } = environment;
  const missing = needs.find(({ program }) => findProgram(program, { cwd: '/', env: environment }) === undefined);
  if (missing) {
    return [{ name, state: 'ok', found: `not possible without ${missing.program}; agent: ${variantOf} needs none` }];
  }
  const asked = spawnSync(path, ['--version'], { encoding: 'utf8', env: { PATH, HOME }, timeout: VERSION_MS });
  const version = /\d+\.\d+\.\d+/.exec(asked.stdout ?? '')?.[0];
  if (version === undefined) {
    return [{ name, state: 'warn', found: `${path} does not report its version`, remedy: `try ${path} --version` }];
  }
  const found = `Claude Code ${version} in tmux (agent: ${name})`;
  const [first, last] = versions;
  if (!isOlder(version, first) && !isOlder(last, version)) return [{ name, state: 'ok', found }];
  const remedy = `its teams were tested from ${first} to ${last}; if it does not work, use agent: ${variantOf}`;
  return [{ name, state: 'warn', found, remedy }];
}

function isOlder(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) < 0;
}
