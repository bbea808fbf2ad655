import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { TestContext } from 'vitest';
import { needTool } from './tools.ts';
import { until } from './until.ts';

/** A tmux server for the running test alone, with one pane. */
export function openTmux(context: TestContext) {
  needTool(context, 'tmux');
  const folder = mkdtempSync(join(tmpdir(), 'troupe-tmux-'));
  const socket = join(folder, 'socket');
  const environment = { ...process.env, TMUX: `${socket},1,0`, SHELL: '/bin/sh' };
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8', env: environment, stdio: 'pipe' }).trim();
  onTestFinished(() => {
    try {
      tmux('kill-server');
    } catch {
      // The test ended it.
    }
    rmSync(folder, { recursive: true, force: true });
  });
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', '200', '-y', '60', '/bin/sh');
  const target = tmux('list-panes', '-F', '#{pane_id}');
  const panes = (): string[] => tmux('list-panes', '-t', target, '-F', '#{pane_id}').split('\n').toSorted();
  /** The environment of a program that runs in the pane. */
  const environmentInside = async (): Promise<Record<string, string>> => {
    const path = join(folder, 'environment');
    tmux('send-keys', '-t', target, `env -0 > ${path}.new && mv ${path}.new ${path}`, 'Enter');
    const text = await until('the pane has answered', () => existsSync(path) && readFileSync(path, 'utf8'));
    return Object.fromEntries(text.split('\0').flatMap((line) => (line ? [line.split(/=(.*)/s, 2)] : [])));
  };
  return { environmentInside, environment: { ...environment, TMUX_PANE: target }, target, tmux, panes, folder };
}
