import { randomUUID } from 'node:crypto';
import type { NoticeMessage } from '../../core/notice.ts';
import { hookEnvironment, runProgram } from '../hooks/run-program.ts';
import { escapeMarkup, UnsentError } from './webhook.ts';

/** How long a program may run. */
const TIMEOUT_MS = 10_000;

/** What programs need to reach the desktop. */
const DESKTOP = ['DISPLAY', 'WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'];

/** Where programs run, and with what. */
export interface Surroundings {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Runs the user's program. The message is its standard input, never a part of its command line. */
export function runCommand(
  command: readonly [string, ...string[]],
  message: NoticeMessage,
  surroundings: Surroundings,
): Promise<void> {
  return run(command, surroundings, message);
}

/** Shows a message on the desktop. */
export function showOnDesktop(message: NoticeMessage, surroundings: Surroundings): Promise<void> {
  return run(desktopCommand(message, process.platform), surroundings);
}

/** The command for a desktop. Texts are arguments of their own: no shell and no script reads them. */
export function desktopCommand({ title, text, link }: NoticeMessage, platform: NodeJS.Platform): [string, ...string[]] {
  const whole = link === undefined ? text : `${text}\n${link}`;
  if (platform === 'darwin') {
    const script = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];
    return ['osascript', ...script.flatMap((line) => ['-e', line]), title, whole];
  }
  return ['notify-send', '--app-name=Troupe', '--', title, escapeMarkup(whole)];
}

async function run(
  command: readonly [string, ...string[]],
  { cwd, environment, signal }: Surroundings,
  payload?: object,
): Promise<void> {
  const { exitCode, code, stderr, timedOut } = await runProgram({
    command,
    cwd,
    env: hookEnvironment(environment, {}, DESKTOP),
    ...(payload && { payload }),
    timeout: TIMEOUT_MS,
    marker: `notice-${randomUUID()}`,
    signal,
  });
  if (exitCode === 0) return;
  const how = timedOut
    ? `took longer than ${TIMEOUT_MS / 1_000} s`
    : `failed${code === undefined ? '' : ` with exit code ${code}`}`;
  throw new UnsentError(`${command[0]} ${how}${stderr === '' ? '' : `: ${stderr.slice(0, 200).trim()}`}`, {
    mayPass: true,
  });
}
