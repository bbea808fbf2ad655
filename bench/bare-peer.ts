import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { nextWord, startCrew } from './crew.ts';

/** What `startBarePeer` starts, as text. */
export const BARE = 'a server that does nothing but this: JSON lines in, one commit a turn, JSON lines out';

/** A minimal daemon. `answers` lets eight processes send requests, and returns answers per second. */
export interface BarePeer extends AsyncDisposable {
  answers(count: number, inFlight: number): Promise<number>;
}

/**
 * Starts a server without rules, state, credentials or checks, and eight clients of it. Its figure is the most that a
 * Node program on this machine reaches if it answers after a flush. The difference is what a daemon costs.
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
