import { findUserHome } from '../../agents/user-home.ts';
import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { paint } from '../show/screen.ts';
import type { Screen } from '../show/screen.ts';
import { clean, widthOf, wrap } from '../show/text.ts';
import { print, toJson } from '../show/write.ts';
import type { Check } from './doctor/check.ts';
import { checkDaemon } from './doctor/daemon.ts';
import { checkDisk, checkFiles, checkHome, checkSocket } from './doctor/home.ts';
import { checkServers } from './doctor/journal.ts';
import { checkAgents, checkNode, checkTools } from './doctor/machine.ts';
import { checkNative } from './doctor/native.ts';

/** Checks everything that Troupe needs. Works without a daemon, and changes nothing. */
export async function run(given: Arguments, { environment, screen }: Surroundings): Promise<number> {
  const home = findHome(environment);
  const checks: Check[] = [
    checkNode(),
    checkHome(home),
    checkDisk(home),
    checkSocket(home),
    ...checkFiles(home),
    ...(await checkTeams(home, environment)),
    ...checkTools(environment),
    ...checkAgents(environment),
    ...checkNative(environment),
  ];
  const ok = checks.every(({ state }) => state !== 'fail');
  print(given.json ? toJson({ ok, checks }, screen.isTerminal ? 2 : undefined) : report(checks, screen));
  return ok ? 0 : 1;
}

/** Checks the daemon and its journal. Faults of the servers are not reported as faults of the daemon. */
async function checkTeams(home: Home, environment: NodeJS.ProcessEnv): Promise<Check[]> {
  const looking = checkServers(home, environment);
  const [daemon, servers] = await Promise.all([checkDaemon(home, { environment, servers: looking }), looking]);
  const names = new Set(servers.map(({ name }) => name));
  // What both report is listed once.
  return [...daemon.filter(({ name, state }) => !names.has(name) || state === 'fail'), ...servers];
}

const MARKS = { ok: ['✓', 'green'], warn: ['!', 'yellow'], fail: ['✗', 'red'] } as const;

function report(checks: readonly Check[], screen: Screen): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  // In a narrow terminal, texts beside the names would have less than half of the width.
  const isNarrow = screen.columns < 2 * (width + 4) + 10;
  const left = isNarrow ? 4 : width + 4;
  const lines = checks.map(({ name, state, found, remedy }) => {
    const [mark, style] = MARKS[state];
    const head = `${paint(screen, style, mark)} ${name.padEnd(isNarrow ? 0 : width)}`;
    const lines = fold(clean(shorten(found)), { left, screen });
    const steps = remedy === undefined ? [] : fold(clean(remedy), { left: left + 2, screen });
    return [
      isNarrow ? `${head}\n${' '.repeat(left)}` : `${head}  `,
      lines.join(`\n${' '.repeat(left)}`),
      steps.length === 0 ? '' : `\n${' '.repeat(left)}${paint(screen, 'dim', '→')} `,
      steps.join(`\n${' '.repeat(left + 2)}`),
      '\n',
    ].join('');
  });
  const failed = checks.filter(({ state }) => state === 'fail').length;
  const warned = checks.filter(({ state }) => state === 'warn').length;
  return `${lines.join('')}\n${verdict(failed, warned)}\n`;
}

function fold(text: string, { left, screen }: { left: number; screen: Screen }): string[] {
  const room = Math.max(20, screen.columns - left);
  return widthOf(text) <= room ? [text] : wrap(text, room);
}

function verdict(failed: number, warned: number): string {
  if (failed > 0) return `${failed} of these must be fixed.`;
  if (warned > 0) return `Troupe can work here, with ${warned} ${warned === 1 ? 'warning' : 'warnings'}.`;
  return 'All is well.';
}

function shorten(text: string): string {
  return text.replaceAll(`${findUserHome(process.env)}/`, '~/');
}
