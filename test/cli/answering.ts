// Answers many command lines in one process, for tests of output: to start a process takes most of a command's time.
// A line of standard input is a command, in base64, because a text may contain a line break. After the output, both
// streams get a mark and the exit code.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type * as Answer from '../../src/cli/answer.ts';
import type * as Values from '../../src/cli/commands/completion/values.ts';

const load = (name: string): Promise<unknown> => {
  const file = process.env['TROUPE_SOURCE'] ? `../../src/cli/${name}.ts` : `../../dist/cli/${name}.js`;
  return import(new URL(file, import.meta.url).href);
};
const { answer } = (await load('answer')) as typeof Answer;
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
  const status = words[0] === '--complete' ? await complete(words.slice(1)) : await answer(words);
  for (const fd of [1, 2]) writeSync(fd, `\0${status}\0`);
}
// The connections of the commands to the daemon are still open.
process.exit(0);

/** Prints what a shell offers, with all the time that the daemon needs. */
async function complete(words: readonly string[]): Promise<number> {
  await import('./programs/patience.ts');
  return ((await load('commands/completion/values')) as typeof Values).printValues(words);
}
