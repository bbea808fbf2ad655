import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRunning } from '../../agents/process.ts';
import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import { readCard } from '../../runtime/card.ts';
import { replacePrivateFile } from '../../runtime/private-file.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { Refusal } from '../show/errors.ts';
import { clean, cleanLines, fold } from '../show/text.ts';
import { print, toJson, warn } from '../show/write.ts';
import { findManager, isInstalled } from './service/manager.ts';
import type { ServiceManager } from './service/manager.ts';
import { describeProgram } from './service/program.ts';
import type { ServiceProgram } from './service/program.ts';

/** What a service command did or found. */
interface Report {
  readonly manager: ServiceManager['kind'];
  readonly name: string;
  readonly file: string;
  readonly installed: boolean;
  readonly enabled: boolean;
  readonly active: boolean;
  /** What is wrong, with the remedy. */
  readonly problems: readonly string[];
}

/** Installs the service that starts the daemon at login, and starts it unless a daemon runs already. */
export async function runInstall(given: Arguments, { environment, screen }: Surroundings): Promise<number> {
  const home = findHome(environment);
  const manager = requireManager(home, environment);
  const program = describeProgram(home, environment);
  const { print: onlyPrint = false } = given.input as { print?: boolean };
  if (onlyPrint) {
    print(manager.text(program));
    return 0;
  }
  const isThere = runs(home);
  writeService(manager, program, !isThere);
  tellJournal(environment);
  const report = reportOn(manager, home, environment);
  if (given.json) print(toJson(report, screen.isTerminal ? 2 : undefined));
  else {
    const now = isThere
      ? `A daemon runs already. To replace it by the service: troupe stop && ${manager.start}`
      : 'It runs now.';
    const text = `Installed ${manager.file}: ${manager.kind} starts the daemon at login. ${now}\nTo undo: troupe service remove\n`;
    print(fold(cleanLines(text).join('\n'), screen));
  }
  return 0;
}

/** Writes the file of a service, and lets its manager know; with `now`, the service starts. */
export function writeService(manager: ServiceManager, program: ServiceProgram, now: boolean): void {
  const trouble = manager.trouble();
  if (trouble !== undefined) throw new Refusal('unsupported', `${trouble}: ${OTHERWISE}`);
  requireOurs(manager);
  mkdirSync(dirname(manager.file), { recursive: true });
  replacePrivateFile(manager.file, manager.text(program));
  manager.enable(now);
}

const OTHERWISE =
  'to start the daemon in another way, see troupe service install --print, or run troupe serve; other commands start one when they need it';

/** Stops the service and removes its file. */
export async function runRemove(given: Arguments, { environment, screen }: Surroundings): Promise<number> {
  const home = findHome(environment);
  const manager = requireManager(home, environment);
  requireOurs(manager);
  const was = isInstalled(manager);
  if (was) manager.remove();
  if (given.json) {
    print(toJson({ removed: was, file: manager.file }, screen.isTerminal ? 2 : undefined));
    return 0;
  }
  const text = was ? `Removed ${manager.file}.` : `No service is installed: ${manager.file} does not exist.`;
  print(fold(`${clean(text)}\n`, screen));
  return 0;
}

/** Shows whether the service is installed, starts at login and runs, and what is wrong with it. */
export async function runStatus(given: Arguments, { environment, screen }: Surroundings): Promise<number> {
  const home = findHome(environment);
  const report = reportOn(requireManager(home, environment), home, environment);
  if (given.json) {
    print(toJson(report, screen.isTerminal ? 2 : undefined));
    return 0;
  }
  const { manager, name, file, installed, enabled, active, problems } = report;
  const state = `${enabled ? 'starts at login' : 'does not start at login'}, ${active ? 'runs now' : 'does not run now'}`;
  const text = installed
    ? `${name} of ${manager} (${file}): ${state}`
    : `No service is installed; troupe service install makes ${file}`;
  print(fold(`${text}.\n${problems.map((problem) => `! ${problem}\n`).join('')}`, screen));
  return 0;
}

function requireManager(home: Home, environment: NodeJS.ProcessEnv): ServiceManager {
  const manager = findManager(home, environment);
  if (manager) return manager;
  const why =
    process.platform === 'win32' ? 'Run Troupe in WSL' : 'Start troupe serve with the service manager of this system';
  throw new Refusal(
    'unsupported',
    `Troupe makes services of systemd and launchd, and ${process.platform} has neither. ${why}`,
  );
}

function requireOurs(manager: ServiceManager): void {
  if (!existsSync(manager.file) || isInstalled(manager)) return;
  throw new Refusal(
    'conflict',
    `${manager.file} is not from troupe service install, so it stays as it is: move it away first`,
  );
}

function reportOn(manager: ServiceManager, home: Home, environment: NodeJS.ProcessEnv): Report {
  const { kind, name, file } = manager;
  const installed = isInstalled(manager);
  const trouble = manager.trouble();
  const state = installed && trouble === undefined ? manager.state() : { enabled: false, active: false };
  const problems = installed ? findProblems(manager, home, environment) : [];
  return {
    manager: kind,
    name,
    file,
    installed,
    ...state,
    problems: [...(trouble === undefined ? [] : [trouble]), ...problems],
  };
}

/** A service keeps the paths of the day on which it was installed. */
function findProblems(manager: ServiceManager, home: Home, environment: NodeJS.ProcessEnv): string[] {
  try {
    const isCurrent = readFileSync(manager.file, 'utf8') === manager.text(describeProgram(home, environment));
    return isCurrent
      ? []
      : [
          'It starts another Node or Troupe, or has another PATH, than this terminal. To renew it: troupe service install',
        ];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Whether a daemon of this state directory runs. */
function runs(home: Home): boolean {
  const card = readCard(home.card);
  return card !== undefined && isRunning(card);
}

/** A journal address may contain a password, so it is never part of the service. */
function tellJournal(environment: NodeJS.ProcessEnv): void {
  if (!environment['TROUPE_JOURNAL']) return;
  warn('troupe: The service does not get TROUPE_JOURNAL: set journal in config.yaml of the state directory\n');
}
