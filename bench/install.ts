import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packInto } from '../scripts/pack.ts';
import type { Benchmark } from './benchmark.ts';
import { openWorkspace } from './disk.ts';
import { median } from './rounds.ts';

const root = join(import.meta.dirname, '..');
const Manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

/** `npm install` of the packed package, as a user has it: without what only its developers need. */
export const install: Benchmark = {
  name: 'install',
  unit: 'ms',
  about: '`npm install` of the packed package with its dependencies, from npm’s cache after the first time',
  target: 'at most 40 MB; time reported',
  async run(scale) {
    using workspace = openWorkspace();
    const { folder } = workspace;
    const tarball = packInto(folder);
    const { dependencies } = Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    const bare = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
    let count = 0;
    const measure = (what: readonly string[]): { ms: number; project: string } => {
      const project = join(folder, String(++count));
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), '{ "private": true }');
      const start = performance.now();
      npm(project, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--silent', ...what);
      return { ms: performance.now() - start, project };
    };
    const { project } = measure([tarball]);
    const rounds = Array.from({ length: Math.min(scale.rounds, 5) }, () => ({
      limit: measure(bare).ms,
      value: measure([tarball]).ms,
    }));
    const megabytes = sizeOf(join(project, 'node_modules')) / 1e6;
    return {
      value: median(rounds.map(({ value }) => value)),
      limit: `npm install ${bare.join(' ')}`,
      limitValue: median(rounds.map(({ limit }) => limit)),
      ratio: median(rounds.map(({ value, limit }) => value / limit)),
      peers: [],
      targets: [{ what: 'MB on the disk', value: megabytes, atMost: 40 }],
      more: { packages: bare.length + 1, tarballMegabytes: statSync(tarball).size / 1e6 },
    };
  },
};

function npm(cwd: string, ...words: readonly string[]): void {
  execFileSync('npm', words, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** What the files of a folder hold; the blocks of a disk differ from one to the next. */
function sizeOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => lstatSync(join(folder, name)));
  return paths.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
