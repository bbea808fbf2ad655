import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { TestContext } from 'vitest';
import { openTmux } from '../tmux.ts';
import { until } from '../until.ts';

/** A terminal with a shell, as its reader has one. */
export interface Terminal {
  /** Types a line, once the command before it has ended. */
  type(line: string): Promise<void>;
  /** Answers a question of the running command. */
  answer(text: string): void;
  /** Presses one key. */
  press(key: string): void;
  /** All that was shown since the last command began, also what was drawn over. */
  seen(): string;
  /** Whether the command has ended. */
  isOver(): boolean;
  /** Waits until the command has ended, and returns its exit code. */
  ended(): Promise<number>;
}

/** The columns for which the page was written: what is wider is wrapped or cut off. */
const COLUMNS = 96;

/** How a program goes to a line of the screen. */
const PLACED = new RegExp(`${String.fromCharCode(27)}\\[\\d+;1H`, 'g');

/** Opens terminals of one reader. */
export function openTerminals(context: TestContext, env: Readonly<Record<string, string>>): (cwd: string) => Terminal {
  const { tmux, folder } = openTmux(context);
  let count = 0;

  return (cwd) => {
    const log = join(folder, `terminal-${++count}`);
    writeFileSync(log, '');
    // The prompt has the exit code of the command before.
    const variables = Object.entries({ ...env, PS1: '[$?]> ', TERM: 'screen' }).map(
      ([name, value]) => `${name}=${value}`,
    );
    const words = ['new-window', '-d', '-P', '-F', '#{pane_id}', '-c', cwd];
    const pane = tmux(...words, 'env', '-i', ...variables, 'sh', '-i');
    tmux('resize-window', '-t', pane, '-x', `${COLUMNS}`, '-y', '50');
    tmux('pipe-pane', '-t', pane, `cat >> ${log}`);
    // The first prompt may have come before the pipe.
    tmux('send-keys', '-t', pane, 'Enter');
    let from = 0;
    const text = (): string => readFileSync(log, 'utf8').slice(from);
    const codeAtEnd = (): number | undefined => {
      const [, code] = /\[(\d+)\]> $/.exec(stripVTControlCharacters(text())) ?? [];
      return code === undefined ? undefined : Number(code);
    };
    const ended = (): Promise<number> =>
      until('the command ends', codeAtEnd).catch((error: unknown) => {
        throw new Error(`${String(error)}:\n${text().slice(-6000)}`);
      });
    return {
      async type(line) {
        await ended();
        from = readFileSync(log, 'utf8').length;
        tmux('send-keys', '-t', pane, '-l', line);
        tmux('send-keys', '-t', pane, 'Enter');
        await until(`the shell has read ${line}`, () => text().includes('\n'));
      },
      answer(line) {
        tmux('send-keys', '-t', pane, '-l', line);
        tmux('send-keys', '-t', pane, 'Enter');
      },
      press: (key) => void tmux('send-keys', '-t', pane, '-l', key),
      // A line that is drawn at a place of its own is a line.
      seen: () => stripVTControlCharacters(text().replaceAll(PLACED, '\n')).replaceAll(/[\r\n]+/g, '\n'),
      isOver: () => codeAtEnd() !== undefined,
      ended,
    };
  };
}
