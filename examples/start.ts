/**
 * Runs the team of examples/slugify in a repository of its own, and merges what it made. It makes a state directory and
 * that repository and removes them again; it touches nothing else of yours.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const place = mkdtempSync(join(tmpdir(), 'troupe-'));
const repo = join(place, 'slugify');
const programs = join(place, 'bin');
const troupe = join(root, 'bin', 'troupe.js');
// Variables such as GIT_DIR name a repository of yours.
const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
const env: NodeJS.ProcessEnv = {
  ...Object.fromEntries(own),
  TROUPE_HOME: join(place, 'home'),
  PATH: [programs, process.env['PATH']].join(delimiter),
};
const keep = process.argv.includes('--keep');

const WHAT = `Four scripts, no model, write a small library together; who does what is in
examples/slugify/troupe.yaml. To see: tasks that wait for others, mail between
members, a gate that runs the tests and sends work back, and a copy of the
repository for each member, whose work lands on one branch.
`;
const NEXT = `Next: npm run build && npm link (here, once), then in a project of yours
  troupe init script && troupe up    a team of scripts; plain init: for it
  troupe ui                          the dashboard
`;

// The reader may close the pipe, as `head` does. The cleanup still runs.
process.stdout.on('error', () => {});
let code = 1;
try {
  makeRepository();
  console.log(WHAT);
  code = await run(['up', join(repo, 'troupe.yaml'), '--yes', '--once']);
  if (code === 0) await showWork();
} finally {
  spawnSync(process.execPath, [troupe, 'stop', '--all'], { env, stdio: 'ignore' });
  if (keep) console.log(`Kept: ${place}`);
  else rmSync(place, { recursive: true, force: true });
}
process.exitCode = code;

/** A repository with the programs of the team, and `troupe` for them. Without git, they share a folder. */
function makeRepository(): void {
  cpSync(join(import.meta.dirname, 'slugify'), repo, { recursive: true });
  mkdirSync(programs);
  writeFileSync(join(programs, 'troupe'), `#!/bin/sh\nexec '${process.execPath}' '${troupe}' "$@"\n`);
  chmodSync(join(programs, 'troupe'), 0o755);
  const who = ['-c', 'user.name=Troupe', '-c', 'user.email=troupe@troupe.invalid', '-c', 'commit.gpgSign=false'];
  for (const words of [
    ['init', '--quiet', '--template=', '--initial-branch=main'],
    ['add', '.'],
    [...who, 'commit', '--quiet', '--message', 'The programs of the team'],
  ]) {
    spawnSync('git', words, { cwd: repo, env, stdio: 'ignore' });
  }
}

/** Shows what landed and merges it, with the commands that people use. */
async function showWork(): Promise<void> {
  if (existsSync(join(repo, '.git'))) {
    for (const words of [['diff', '--stat'], ['merge']]) {
      console.log(`\n$ troupe ${words.join(' ')}`);
      code ||= await run(words);
    }
    const { stdout } = spawnSync('git', ['log', '--format=%h %s'], { cwd: repo, env, encoding: 'utf8' });
    console.log(`\n$ git log --oneline\n${stdout}`);
  }
  console.log(NEXT);
}

function run(args: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [troupe, ...args], { cwd: repo, env, stdio: 'inherit' });
    // The terminal signals both processes. The command cleans up first, then we do.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => child.kill('SIGINT'));
    child.once('exit', (exit) => resolve(exit ?? 1));
  });
}
