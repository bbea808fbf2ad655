import { homedir } from 'node:os';
import { findHome } from '../client/home.ts';
import type { Arguments } from './arguments.ts';
import type { Check } from './doctor/check.ts';
import { checkDaemon } from './doctor/daemon.ts';
import { checkDisk, checkFiles, checkHome, checkSocket } from './doctor/home.ts';
import { checkAgents, checkNode, checkTools } from './doctor/machine.ts';
import { checkNative } from './doctor/native.ts';
import type { Surroundings } from './own.ts';
import { paint } from './screen.ts';
import type { Screen } from './screen.ts';
import { clean } from './text.ts';
import { print, toJson } from './write.ts';

/** Looks at all that Troupe needs. Works without a daemon, and changes nothing. */
export async function run(given: Arguments, { environment, screen }: Surroundings): Promise<number> {
  const home = findHome(environment);
  const checks: Check[] = [
    checkNode(),
    checkHome(home),
    checkDisk(home),
    checkSocket(home),
    ...checkFiles(home),
    ...(await checkDaemon(home, environment)),
    ...checkTools(environment),
    ...checkAgents(environment),
    ...checkNative(environment),
  ];
  const ok = checks.every(({ state }) => state !== 'fail');
  print(given.json ? toJson({ ok, checks }, screen.isTerminal ? 2 : undefined) : report(checks, screen));
  return ok ? 0 : 1;
}

const MARKS = { ok: ['✓', 'green'], warn: ['!', 'yellow'], fail: ['✗', 'red'] } as const;

function report(checks: readonly Check[], screen: Screen): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(({ name, state, found, remedy }) => {
    const [mark, style] = MARKS[state];
    const head = `${paint(screen, style, mark)} ${name.padEnd(width)}  ${clean(shorten(found))}\n`;
    return remedy === undefined
      ? head
      : `${head}${' '.repeat(width + 4)}${paint(screen, 'dim', '→')} ${clean(remedy)}\n`;
  });
  const failed = checks.filter(({ state }) => state === 'fail').length;
  const warned = checks.filter(({ state }) => state === 'warn').length;
  return `${lines.join('')}\n${verdict(failed, warned)}\n`;
}

function verdict(failed: number, warned: number): string {
  if (failed > 0) return `${failed} of these must be put right.`;
  if (warned > 0) return `Troupe can work here; ${warned} of these may be worth a look.`;
  return 'All is well.';
}

function shorten(text: string): string {
  return text.replaceAll(homedir(), '~');
}
