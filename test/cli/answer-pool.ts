import { atFileEnd } from '../setup/file-end.ts';
import { openAnswers } from './answers.ts';
import type { Answers, Outcome } from './answers.ts';

/** Where a command runs, and with which variables besides those of the tests. */
export interface Around {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Processes of this worker that wait for a command, for all test files that it runs. They end when their standard input does. */
const idle: Answers[] = [];
/** Those that answer a command of the running file. */
const busy = new Set<Answers>();

/**
 * Answers a command in a process that answers others, too: to start one takes most of the time of a command. While it is busy,
 * another one answers. These processes have no TROUPE_HOME, so no stage takes them for its own.
 */
export async function answerInPool(words: readonly string[], { env, cwd }: Around): Promise<Outcome> {
  if (!atFileEnd.includes(endBusy)) atFileEnd.push(endBusy);
  const answers = idle.pop() ?? openAnswers(process.env);
  busy.add(answers);
  // What a command starts is named after the file that asks, not after the one that asked first.
  const outcome = await answers.ask(words, { TROUPE_TEST_FILE: process.env['TROUPE_TEST_FILE'], ...env }, cwd);
  busy.delete(answers);
  idle.push(answers);
  return outcome;
}

/** No command of a file goes on in another one. */
async function endBusy(): Promise<void> {
  const ended = [...busy].map((one) => one.kill());
  busy.clear();
  await Promise.all(ended);
}
