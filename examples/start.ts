/**
 * Runs the team of examples/slugify: programs that write a small library in a repository of their own. A state directory
 * and a repository are made for it and removed again; nothing else of yours is touched.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const place = mkdtempSync(join(tmpdir(), 'troupe-'));
const repo = join(place, 'repo');
const troupe = join(root, 'bin', 'troupe.js');
const env = { ...process.env, TROUPE_HOME: join(place, 'home'), SLUGIFY_REPO: repo };
const keep = process.argv.includes('--keep');

let code = 1;
try {
  const team = join(import.meta.dirname, 'slugify', 'troupe.yaml');
  code = await run(['up', team, '--yes']);
  if (code === 0) {
    console.log(`\nWhat the writer wrote:\n\n${readFileSync(join(repo, 'REPORT.md'), 'utf8').replace(/^/gm, '  ')}`);
  }
} finally {
  spawnSync(process.execPath, [troupe, 'stop', '--all'], { env, stdio: 'ignore' });
  if (keep) console.log(`Kept: ${place}`);
  else rmSync(place, { recursive: true, force: true });
}
process.exitCode = code;

function run(args: string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [troupe, ...args], { env, stdio: 'inherit' });
    // The terminal signals both of us; the command cleans up, and so do we when it has.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill('SIGINT'));
    child.once('exit', (exit) => resolve(exit ?? 1));
  });
}
