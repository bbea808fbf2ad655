import { findUserHome } from '../../agents/user-home.ts';
import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import type { Arguments, CommandTable, Surroundings } from '../line/command.ts';
import { paint } from '../show/screen.ts';
import type { Screen } from '../show/screen.ts';
import { clean, widthOf, wrap } from '../show/text.ts';
import { print, toJson } from '../show/write.ts';
import type { Check } from './doctor/check.ts';
import { checkDaemon } from './doctor/daemon.ts';
import { checkDisk, checkFiles, checkHome, checkSocket } from './doctor/home.ts';
import { checkServers } from './doctor/journal.ts';
import { checkLeftovers } from './doctor/leftovers.ts';
import { checkAgents, checkNode, checkTools } from './doctor/machine.ts';
import { checkNative } from './doctor/native.ts';
import { checkPlatform } from './doctor/platform.ts';
import { checkCompletions, checkService } from './doctor/written.ts';

/** Checks everything that Troupe needs. Works without a daemon, and changes nothing without --fix. */
export async function run(given: Arguments, { environment, screen, commands }: Surroundings): Promise<number> {
  const { fix = false } = given.input as { fix?: boolean };
  const look = (): Promise<Check[]> => examine(environment, commands);
  const before = await look();
  const mended = fix ? mendAll(before) : [];
  const checks = mended.length > 0 ? await look() : before;
  const ok = checks.every(({ state }) => state !== 'fail');
  if (given.json) print(toJson({ ok, checks, ...(fix && { mended }) }, screen.isTerminal ? 2 : undefined));
  else print(`${report(checks, screen)}${fix ? reportMended(mended, checks) : hintFix(checks)}`);
  return ok ? 0 : 1;
}

async function examine(environment: NodeJS.ProcessEnv, commands: CommandTable): Promise<Check[]> {
  const platform = checkPlatform();
  // Everything below asks a system that Windows is not.
  if (platform.state === 'fail') return [checkNode(), platform];
  const home = findHome(environment);
  return [
    checkNode(),
    platform,
    checkHome(home),
    checkDisk(home),
    checkSocket(home),
    ...checkFiles(home),
    ...(await checkTeams(home, environment)),
    ...(await checkLeftovers(home, environment)),
    ...checkTools(environment),
    ...checkAgents(environment),
    ...checkNative(environment),
    ...(await checkCompletions(environment, commands)),
    ...checkService(home, environment),
  ];
}

/** What was mended, or why it could not be. */
interface Mended {
  readonly name: string;
  readonly did?: string;
  readonly failed?: string;
}

function mendAll(checks: readonly Check[]): Mended[] {
  return checks.flatMap(({ name, state, mend }): Mended[] => {
    if (state === 'ok' || !mend) return [];
    try {
      return [{ name, did: mend() }];
    } catch (error) {
      return [{ name, failed: (error as Error).message }];
    }
  });
}

function reportMended(mended: readonly Mended[], checks: readonly Check[]): string {
  const lines = mended.map(({ name, did, failed }) =>
    did === undefined ? `Could not mend ${name}: ${clean(failed ?? '')}` : `Mended ${name}: ${clean(did)}`,
  );
  const left = checks.filter(({ state }) => state !== 'ok').length;
  const rest = left === 0 ? [] : [`${left} ${left === 1 ? 'is' : 'are'} yours to mend; → says how.`];
  return [...(lines.length === 0 ? ['Nothing was mended.'] : lines), ...rest].map((line) => `${line}\n`).join('');
}

function hintFix(checks: readonly Check[]): string {
  const count = checks.filter(({ state, mend }) => state !== 'ok' && mend).length;
  return count === 0 ? '' : `troupe doctor --fix mends ${count === 1 ? 'one problem' : `${count} problems`}.\n`;
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
