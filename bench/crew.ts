import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { WORKERS } from './team.ts';

/** Processes that stay for all rounds, so that their start is not measured. */
export interface Crew extends AsyncDisposable {
  /** Sends the same message to all of them, and returns each one's next message. */
  ask(message: object | string): Promise<unknown[]>;
}

/** Starts one process per worker, from a script in `processes`, and waits until each reports that it is ready. */
export async function startCrew(
  script: string,
  argumentsOf: (worker: string) => string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Crew> {
  const path = join(import.meta.dirname, 'processes', script);
  const options = { execArgv: [], env: { ...process.env, ...environment } };
  const crew = WORKERS.map((worker) => fork(path, argumentsOf(worker), options));
  await Promise.all(crew.map(nextWord));
  return {
    async ask(message) {
      const words = crew.map(nextWord);
      for (const one of crew) one.send(message);
      return Promise.all(words);
    },
    async [Symbol.asyncDispose]() {
      const running = crew.filter((one) => one.connected);
      const gone = running.map((one) => once(one, 'exit'));
      for (const one of running) one.disconnect();
      await Promise.all(gone);
    },
  };
}

/** The next message of a process. */
export function nextWord(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`A process of the benchmark ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
