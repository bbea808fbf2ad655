import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The input of a program: the task, the waiting messages, and the gate's feedback on the last try. */
export async function readTurn() {
  return JSON.parse(await text(process.stdin));
}

/** The small repository that the team works on. */
export const repo = process.env.REPO;
if (!repo) {
  console.error(
    'SLUGIFY_REPO is not set where the daemon was started: the path of a folder to make. npm start sets it.',
  );
  process.exit(1);
}

/** Runs git in that repository. */
export function git(...args) {
  const who = ['-c', 'user.name=Troupe', '-c', 'user.email=troupe@example.invalid'];
  return execFileSync('git', [...who, ...args], { cwd: repo, encoding: 'utf8' }).trim();
}

/** Sends a message to another member: runs `troupe` with the member's own credential. */
export function send(member, message) {
  const troupe = join(dirname(fileURLToPath(import.meta.url)), '../../../bin/troupe.js');
  execFileSync(process.execPath, [troupe, 'send', member, message], { stdio: ['ignore', 'ignore', 'inherit'] });
}
