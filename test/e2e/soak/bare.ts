import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { nextWord } from '../../../bench/crew.ts';

/** A server in a process of its own that only commits a record and answers. */
export interface Bare {
  ask(): Promise<void>;
}

/**
 * Starts it, and connects. What other programs on the machine do to a call of the daemon, they do to a call of it: to the disk, and to two
 * processes that wait for each other. So it is what a latency is told in.
 */
export async function startBare(folder: string): Promise<Bare> {
  const path = join(folder, 'bare.sock');
  const script = join(import.meta.dirname, '../../../bench/processes/bare-server.ts');
  const server = fork(script, [path, join(folder, 'bare.db')], { execArgv: [] });
  onTestFinished(async () => {
    const gone = once(server, 'exit');
    server.disconnect();
    await gone;
  });
  await nextWord(server);
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  const answers = createInterface(socket);
  return {
    async ask() {
      const answer = once(answers, 'line');
      socket.write(`${JSON.stringify({ type: 'task.claim', id: 1, commandId: crypto.randomUUID(), as: 'ann' })}\n`);
      await answer;
    },
  };
}
