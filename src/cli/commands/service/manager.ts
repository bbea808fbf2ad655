import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { findProgram } from '../../../agents/program.ts';
import { findUserHome } from '../../../agents/user-home.ts';
import type { Home } from '../../../client/home.ts';
import { Refusal } from '../../show/errors.ts';
import { plistText } from './plist.ts';
import { nameFor, OURS } from './program.ts';
import type { ServiceProgram } from './program.ts';
import { unitText } from './unit.ts';

/** What a service manager says about a service. */
export interface ServiceState {
  /** It starts at login. */
  readonly enabled: boolean;
  readonly active: boolean;
}

/** Starts the daemon of one state directory at login: systemd on Linux, launchd on macOS. */
export interface ServiceManager {
  readonly kind: 'systemd' | 'launchd';
  /** The service's name, for the manager's own commands. */
  readonly name: string;
  readonly file: string;
  text(program: ServiceProgram): string;
  /** Why the manager cannot be used now; undefined if it can. */
  trouble(): string | undefined;
  /** Makes the manager read the file, and start the service at each login; with `now`, also at once. */
  enable(now: boolean): void;
  /** Stops the service, and removes its file. Works without the manager, too. */
  remove(): void;
  state(): ServiceState;
  /** A command with which people start it. */
  readonly start: string;
}

/** The service manager of this system; undefined if it has none that Troupe knows. */
export function findManager(
  home: Home,
  environment: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): ServiceManager | undefined {
  if (platform === 'darwin') return launchd(home, environment);
  return platform === 'linux' ? systemd(home, environment) : undefined;
}

/** Whether a service file is there and is Troupe's. */
export function isInstalled({ file }: Pick<ServiceManager, 'file'>): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes(OURS);
}

function systemd(home: Home, environment: NodeJS.ProcessEnv): ServiceManager {
  const name = `${nameFor(home, environment)}.service`;
  const given = environment['XDG_CONFIG_HOME'] ?? '';
  const folder = join(isAbsolute(given) ? given : join(findUserHome(environment), '.config'), 'systemd/user');
  const file = join(folder, name);
  const run = (...words: string[]): Ran => runProgram('systemctl', ['--user', ...words], environment);
  const must = (...words: string[]): void => requireDone(run(...words), `systemctl --user ${words.join(' ')}`);
  return {
    kind: 'systemd',
    name,
    file,
    text: unitText,
    trouble: () => {
      const { code, said } = run('show-environment');
      return code === 0 ? undefined : `systemd runs no user session here (${said})`;
    },
    enable(now) {
      must('daemon-reload');
      must('enable', ...(now ? ['--now'] : []), name);
    },
    remove() {
      run('disable', '--now', name);
      rmSync(file, { force: true });
      // What "enable" made. Without a user session nobody else removes it.
      rmSync(join(folder, 'default.target.wants', name), { force: true });
      run('daemon-reload');
    },
    state: () => ({ enabled: run('is-enabled', name).code === 0, active: run('is-active', name).code === 0 }),
    start: `systemctl --user start ${name}`,
  };
}

function launchd(home: Home, environment: NodeJS.ProcessEnv): ServiceManager {
  const label = `${nameFor(home, environment)}.daemon`;
  const file = join(findUserHome(environment), 'Library/LaunchAgents', `${label}.plist`);
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const run = (...words: string[]): Ran => runProgram('launchctl', words, environment);
  return {
    kind: 'launchd',
    name: label,
    file,
    text: (program) => plistText(label, program),
    trouble: () => {
      const { code, said } = run('print', domain);
      return code === 0 ? undefined : `launchd has no session of yours (${said})`;
    },
    enable(now) {
      run('bootout', `${domain}/${label}`);
      requireDone(run('enable', `${domain}/${label}`), 'launchctl enable');
      // launchd starts what it loads. Without "now", it loads the file at the next login.
      if (now) requireDone(run('bootstrap', domain, file), 'launchctl bootstrap');
    },
    remove() {
      run('bootout', `${domain}/${label}`);
      rmSync(file, { force: true });
    },
    state() {
      const { code, output } = run('print', `${domain}/${label}`);
      return { enabled: existsSync(file), active: code === 0 && /^\s*pid = \d+/m.test(output) };
    },
    start: `launchctl bootstrap ${domain} ${file}`,
  };
}

interface Ran {
  readonly code: number;
  readonly output: string;
  /** The first line of the complaint. */
  readonly said: string;
}

/** How long a service manager may take. Stopping a daemon with its members takes a few seconds. */
const PATIENCE_MS = 120_000;

function runProgram(program: string, words: readonly string[], env: NodeJS.ProcessEnv): Ran {
  const path = findProgram(program, { cwd: '/', env });
  if (path === undefined) return { code: 127, output: '', said: `${program} is not on the PATH` };
  const { status, stdout, stderr, error } = spawnSync(path, words, {
    env,
    encoding: 'utf8',
    timeout: PATIENCE_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dirname(path),
  });
  const complaint = (stderr || error?.message || stdout || '').trim().split('\n')[0] ?? '';
  return { code: status ?? 1, output: stdout ?? '', said: complaint === '' ? `exit code ${status}` : complaint };
}

function requireDone({ code, said }: Ran, what: string): void {
  if (code !== 0) throw new Refusal('conflict', `${what} failed: ${said}`);
}
