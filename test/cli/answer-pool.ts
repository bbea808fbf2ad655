import { atFileEnd } from '../setup/file-end.ts';
import { openAnswers } from './answers.ts';
import type { Answers, Outcome } from './answers.ts';

/** Where a command runs, and with which variables besides those of the tests. */
export interface Around {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** The processes of a file, and those of them that answer a command now. */
interface Pool {
  readonly idle: Answers[];
  readonly busy: Set<Answers>;
}

let pool: Pool | undefined;

/**
 * Answers a command in a process that answers others of this test file, too: to start one takes most of the time of a command. While it
 * is busy, another one answers. These processes have no TROUPE_HOME, so no stage takes them for its own.
 */
export async function answerInPool(words: readonly string[], { env, cwd }: Around): Promise<Outcome> {
  const { idle, busy } = (pool ??= openPool());
  const answers = idle.pop() ?? openAnswers(process.env);
  busy.add(answers);
  const outcome = await answers.ask(words, env, cwd);
  busy.delete(answers);
  idle.push(answers);
  return outcome;
}

function openPool(): Pool {
  const { idle, busy } = { idle: [] as Answers[], busy: new Set<Answers>() };
  atFileEnd.push(async () => {
    pool = undefined;
    await Promise.all([...idle.map((one) => one.close()), ...[...busy].map((one) => one.kill())]);
  });
  return { idle, busy };
}
