import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTmuxScreen } from '../../src/terminals/tmux-screen.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { isInstalled, needs } from '../tools.ts';
import { until } from '../until.ts';

// A program with several threads: tmux sees its terminal close before its last thread has ended.
const PROGRAM = [process.execPath, '-e', 'console.log("ready"); setInterval(() => {}, 1_000)'] as const;

// tmux 3.3 alone misses about one such end in three.
test(
  'a screen reports how its program ended, every time',
  needs(isInstalled('tmux'), 'tmux is not installed'),
  async () => {
    const cwd = temporaryFolder();
    const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm' };
    for (let round = 0; round < 10; round++) {
      const screen = await openTmuxScreen({ command: PROGRAM, cwd, env, socket: join(cwd, `s${round}`) });
      try {
        await until('the program has started', async () => (await screen.text()).includes('ready'));
        process.kill(screen.pid, 'SIGKILL');
        expect(await until('its end is reported', () => screen.ending())).toContain('was ended by SIGKILL');
      } finally {
        await screen.close();
      }
    }
  },
);
