/**
 * Runs the team of examples/slugify: programs that write a small library in their own repository. It makes a state
 * directory and a repository and removes them again; it touches nothing else of yours.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fold } from '../src/cli/show/text.ts';

const root = join(import.meta.dirname, '..');
const place = mkdtempSync(join(tmpdir(), 'troupe-'));
const repo = join(place, 'repo');
const report = join(repo, 'REPORT.md');
const troupe = join(root, 'bin', 'troupe.js');
const env = { ...process.env, TROUPE_HOME: join(place, 'home'), SLUGIFY_REPO: repo };
const keep = process.argv.includes('--keep');

const WHAT = `Four scripts, no model, write a small library together; who does what is in
examples/slugify/troupe.yaml. To see: tasks that wait for others, mail between
members, and a gate that runs the tests and sends work back.
`;
const NEXT = `Next: npm run build && npm link (here, once), then in a project of yours
  troupe init script && troupe up    a team of scripts; without "script", of agents
  troupe ui                          the dashboard
`;

// The reader may close the pipe, as `head` does. The cleanup still runs.
process.stdout.on('error', () => {});
let code = 1;
try {
  const team = join(import.meta.dirname, 'slugify', 'troupe.yaml');
  console.log(WHAT);
  code = await run(['up', team, '--yes', '--once']);
  if (code === 0 && existsSync(report)) {
    const text = readFileSync(report, 'utf8')
      .trimEnd()
      .replace(/^(?=.)/gm, '  ');
    const folded = fold(text, { columns: process.stdout.isTTY ? process.stdout.columns : Infinity });
    console.log(`\nWhat the writer wrote:\n\n${folded}\n\n${NEXT}`);
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
    // The terminal signals both processes. The command cleans up first, then we do.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill('SIGINT'));
    child.once('exit', (exit) => resolve(exit ?? 1));
  });
}
