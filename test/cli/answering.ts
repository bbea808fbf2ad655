// Answers one command line after another, for tests of what is said and not of the process that says it: to start one takes most
// of a command's time. A line of standard input is a command, in base64, since a text may hold what ends a line. Behind its output
// stands, on both streams, a mark and its exit code.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type * as Answer from '../../src/cli/answer.ts';

const file = process.env['TROUPE_SOURCE'] ? '../../src/cli/answer.ts' : '../../dist/cli/answer.js';
const { answer } = (await import(new URL(file, import.meta.url).href)) as typeof Answer;
// Each of them listens for Ctrl-C until its process ends.
process.setMaxListeners(0);
const inherited = { ...process.env };

for await (const line of createInterface(process.stdin)) {
  const { words, env } = JSON.parse(Buffer.from(line, 'base64').toString()) as {
    words: string[];
    env: Record<string, string | null>;
  };
  process.env = { ...inherited };
  for (const [name, value] of Object.entries(env)) {
    if (value === null) delete process.env[name];
    else process.env[name] = value;
  }
  const status = await answer(words);
  for (const fd of [1, 2]) writeSync(fd, `\0${status}\0`);
}
// Their connections to the daemon are still open.
process.exit(0);
