import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, 'answering.ts');
/** No command writes a zero byte: texts are cleaned, and JSON escapes it. */
const END = /^([^\0]*)\0(\d+)\0$/;

/** How a command ended. */
export interface Outcome {
  readonly status: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** One process for many command lines, one after another. */
export interface Answers {
  ask(words: readonly string[], env: Readonly<Record<string, string | undefined>>, cwd?: string): Promise<Outcome>;
  close(): Promise<void>;
  /** Ends it in the middle of a command. */
  kill(): Promise<void>;
}

/** Whether a command line can be answered in a shared process; others are programs, or read standard input. */
export function canAnswer(words: readonly string[]): boolean {
  if (words[0] === '--complete') return true;
  return !['serve', 'mcp'].includes(words[0] ?? '') && !words.includes('-');
}

/** Starts the process, which the caller must close. */
export function openAnswers(environment: NodeJS.ProcessEnv): Answers {
  const child = spawn(process.execPath, [PROGRAM], { env: environment });
  const ended = once(child, 'close');
  const output = { stdout: '', stderr: '' };
  let heard = (): void => {};
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
      heard();
    });
  }
  const answerTo = (line: string): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      output.stdout = output.stderr = '';
      heard = () => {
        const [out, beside] = [END.exec(output.stdout), END.exec(output.stderr)];
        if (!out || !beside) return;
        child.off('close', end);
        resolve({ status: Number(out[2]), stdout: out[1] ?? '', stderr: beside[1] ?? '' });
      };
      const end = (): void => reject(new Error(`It ended at ${line}: ${output.stderr}`));
      child.once('close', end);
      child.stdin.write(`${Buffer.from(line).toString('base64')}\n`);
    });
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask(words, env, cwd = process.cwd()) {
      const line = JSON.stringify({ words, env, cwd }, (_, value: unknown) => value ?? null);
      const answer = last.then(() => answerTo(line));
      last = answer.catch(() => {});
      return answer;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
