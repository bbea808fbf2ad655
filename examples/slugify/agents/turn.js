import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';

/** The input of a program: the task, the waiting messages, and the gate's feedback on the last try. */
export async function readTurn() {
  return JSON.parse(await text(process.stdin));
}

/** Writes a file of the library. A program runs in its member's copy; nobody has to commit. */
export function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Fills in a section of README.md. */
export function fillIn(section, content) {
  const readme = readFileSync('README.md', 'utf8');
  write('README.md', readme.replace(`## ${section}\n\nnot yet\n`, `## ${section}\n\n${content}\n`));
}

/** Sends a message to another member: runs `troupe` with the member's own credential. */
export function send(member, message) {
  execFileSync('troupe', ['send', member, message], { stdio: ['ignore', 'ignore', 'inherit'] });
}
