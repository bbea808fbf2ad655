import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { until } from '../until.ts';
import { BIN } from './troupe.ts';
import type { Troupe } from './troupe.ts';

/** A terminal that a command runs in, and what it shows. */
export interface Terminal {
  /** The text of the screen; with `colors` the styles as well. */
  show(options?: { colors?: boolean }): string;
  /** Presses keys, in tmux' names: `q`, `Down`, `C-c`. */
  press(...keys: readonly string[]): void;
  resize(columns: number, rows: number): void;
  /** Waits until the screen shows it. */
  see(what: string | RegExp): Promise<string>;
}

let number = 0;

/** Each look at a screen starts a process. Without a pause, these would slow down the command under test. */
const BETWEEN_LOOKS_MS = 50;

/** Runs a command line in a real terminal. `troupe` is our command; at the end the shell prints the exit code. */
export function openTerminal(
  troupe: Troupe,
  line: string,
  { columns = 80, rows = 24, env = {} }: { columns?: number; rows?: number; env?: Record<string, string> } = {},
): Terminal {
  // A server of its own, so that neither the user's sessions nor their settings are touched.
  const name = `troupe-test-${process.pid}-${++number}`;
  const tmux = (...args: readonly string[]): string => {
    const { stdout, stderr, status } = spawnSync('tmux', ['-L', name, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...troupe.environment, LC_ALL: 'C.UTF-8', ...env },
    });
    if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  onTestFinished(() => void spawnSync('tmux', ['-L', name, 'kill-server']));
  const script = `troupe() { "${process.execPath}" "${BIN}" "$@"; }; ${line}; echo "ended with $?"; exec sleep 600`;
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), 'bash', '--norc', '-c', script);

  const terminal: Terminal = {
    show: ({ colors = false } = {}) => tmux('capture-pane', '-p', ...(colors ? ['-e'] : [])),
    press: (...keys) => void tmux('send-keys', ...keys),
    resize: (width, height) => void tmux('resize-window', '-x', String(width), '-y', String(height)),
    async see(what) {
      const isSeen = (text: string): boolean => (typeof what === 'string' ? text.includes(what) : what.test(text));
      let text = '';
      try {
        return await until(`the terminal shows ${String(what)}`, async () => {
          if (isSeen((text = terminal.show()))) return text;
          await sleep(BETWEEN_LOOKS_MS);
          return undefined;
        });
      } catch (error) {
        throw new Error(`${String(error)}. It shows:\n${text}`, { cause: error });
      }
    },
  };
  return terminal;
}
