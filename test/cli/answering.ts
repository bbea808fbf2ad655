// Answers many command lines in one process, for tests of output: to start a process takes most of a command's time.
// A line of standard input is a command, in base64, because a text may contain a line break. After the output, both
// streams get a mark and the exit code.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type * as Answer from '../../src/cli/answer.ts';

const file = process.env['TROUPE_SOURCE'] ? '../../src/cli/answer.ts' : '../../dist/cli/answer.js';
const { answer } = (await import(new URL(file, import.meta.url).href)) as typeof Answer;
// Each command listens for Ctrl-C until the process ends.
process.setMaxListeners(0);
const inherited = { ...process.env };

for await (const line of createInterface(process.stdin)) {
  const { words, env, cwd } = JSON.parse(Buffer.from(line, 'base64').toString()) as {
    words: string[];
    env: Record<string, string | null>;
    cwd: string;
  };
  process.chdir(cwd);
  process.env = { ...inherited };
  for (const [name, value] of Object.entries(env)) {
    if (value === null) delete process.env[name];
    else process.env[name] = value;
  }
  const status = await answer(words);
  for (const fd of [1, 2]) writeSync(fd, `\0${status}\0`);
}
// The connections of the commands to the daemon are still open.
process.exit(0);
