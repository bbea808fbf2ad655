import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { startDaemon } from './daemon.ts';
import { openWorkspace } from './disk.ts';
import { median } from './rounds.ts';

const root = join(import.meta.dirname, '..');

/** `troupe task list` against a running daemon, as users install it. */
export const cliStart: Benchmark = {
  name: 'cli-start',
  unit: 'ms',
  about: '`troupe task list` against a running daemon, built as it is published',
  target: 'at most 1.5 times `node -e 0`',
  async run(scale) {
    using workspace = openWorkspace();
    await using daemon = await startDaemon(workspace.folder);
    await daemon.client.call('team.create', { name: 'demo' });
    for (let i = 1; i <= 20; i++) await daemon.client.call('task.create', { teamId: 'demo', title: `Task ${i}` });
    const env = { ...process.env, TROUPE_HOME: daemon.home.directory, TROUPE_SOURCE: '' };
    const run = (...args: string[]): number => {
      const start = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
      return performance.now() - start;
    };
    const list = (): number => run(join(root, 'bin', 'troupe.js'), 'task', 'list', '--team', 'demo');
    const bare = (): number => run('-e', '0');
    for (let i = 0; i < 3; i++) list();
    const lists: number[] = [];
    const bares: number[] = [];
    const ratios: number[] = [];
    // A single start is noisy, and so is its ratio. So there are many starts, in turns.
    for (let i = 0; i < scale.rounds * 5; i++) {
      const before = bare();
      const value = list();
      const after = bare();
      lists.push(value);
      bares.push(before, after);
      ratios.push((2 * value) / (before + after));
    }
    return {
      value: median(lists),
      limit: 'node -e 0',
      limitValue: median(bares),
      ratio: median(ratios),
      peers: [],
      targets: [{ what: 'times the limit', value: median(ratios), atMost: 1.5 }],
    };
  },
};
