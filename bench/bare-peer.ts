import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { nextWord, startCrew } from './crew.ts';

/** What `startBarePeer` is, in words. */
export const BARE = 'a server that does nothing but this: JSON lines in, one commit a turn, JSON lines out';

/** The least that a daemon could do; `answers` lets eight processes ask, and returns answers a second. */
export interface BarePeer extends AsyncDisposable {
  answers(count: number, inFlight: number): Promise<number>;
}

/**
 * Starts a server without rules, state, credentials or checks, and eight clients of it. What it reaches is what this machine
 * leaves to any program on Node that answers after a flush; what a daemon needs more is the price of being one.
 */
export async function startBarePeer(folder: string): Promise<BarePeer> {
  const socket = join(folder, 'bare.sock');
  const script = join(import.meta.dirname, 'processes', 'bare-server.ts');
  const server = fork(script, [socket, join(folder, 'bare.db')], { execArgv: [] });
  await nextWord(server);
  const crew = await startCrew('bare-client.ts', (worker) => [socket, worker]);
  return {
    async answers(count, inFlight) {
      const start = performance.now();
      const counts = (await crew.ask({ count: Math.ceil(count / 8), inFlight })) as number[];
      const seconds = (performance.now() - start) / 1000;
      return counts.reduce((sum, one) => sum + one, 0) / seconds;
    },
    async [Symbol.asyncDispose]() {
      await crew[Symbol.asyncDispose]();
      const gone = once(server, 'exit');
      server.disconnect();
      await gone;
    },
  };
}
