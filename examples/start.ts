/**
 * Runs the team of examples/slugify, or of another example that is named (`npm start review`), in a repository of its own,
 * and merges what it made. It makes a state directory and that repository and removes them again; it touches nothing else
 * of yours.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentIn, EXAMPLES, makeRepository, TROUPE } from './repository.ts';

const words = process.argv.slice(2).filter((word) => word !== '--keep');
const [example = 'slugify', unknown = example.startsWith('-') ? example : undefined] = words;
if (unknown !== undefined) refuse(`npm start takes one example and --keep, not ${unknown}`);
if (!EXAMPLES.includes(example)) refuse(`There is no example ${example}: choose one of ${EXAMPLES.join(', ')}`);
const place = mkdtempSync(join(tmpdir(), 'troupe-'));
const repo = join(place, example);
const env = { ...environmentIn(place), TROUPE_HOME: join(place, 'home') };
const keep = process.argv.includes('--keep');

const WHAT = `Four scripts, no model, write a small library together; who does what is in
examples/slugify/troupe.yaml. To see: tasks that wait for others, mail between
members, a gate that runs the tests and sends work back, and a copy of the
repository for each member, whose work lands on one branch.
`;
const NEXT = `That was a whole team, from its tasks to one branch.${keep ? '' : ' Its folder is removed again; nothing else was touched.'}

Your turn. Here, once:  npm run build && npm link
Then, in a project of yours:
  troupe init && troupe up           a team of agents for that project
  troupe init script && troupe up    a team of scripts, to try it without a model
  troupe ui                          the dashboard
docs/guide.md explains each step.
`;

// The reader may close the pipe, as `head` does. The cleanup still runs.
process.stdout.on('error', () => {});
let code = 1;
try {
  makeRepository(example, place, env);
  console.log(example === 'slugify' ? WHAT : aboutIt());
  code = await run(['up', join(repo, 'troupe.yaml'), '--yes', '--once']);
  if (code === 0) await showWork();
} finally {
  spawnSync(process.execPath, [TROUPE, 'stop', '--all'], { env, stdio: 'ignore' });
  if (keep) console.log(`Kept: ${place}`);
  else rmSync(place, { recursive: true, force: true });
}
process.exitCode = code;

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

/** The first paragraph of the example's README. */
function aboutIt(): string {
  const [, about = ''] = readFileSync(join(import.meta.dirname, example, 'README.md'), 'utf8').split('\n\n');
  return `${about}\n`;
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
    const child = spawn(process.execPath, [TROUPE, ...args], { cwd: repo, env, stdio: 'inherit' });
    // The terminal signals both processes. The command cleans up first, then we do.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => child.kill('SIGINT'));
    child.once('exit', (exit) => resolve(exit ?? 1));
  });
}
