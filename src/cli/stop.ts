import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../client/client.ts';
import type { Arguments } from './arguments.ts';
import { openClient } from './connect.ts';
import { Refusal } from './errors.ts';
import type { Surroundings } from './own/own-command.ts';
import { show } from './show.ts';

/** The daemon may take so long to write down and let go of everything. */
const PATIENCE_MS = 15_000;

/** Ends the daemon and returns when it is gone. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { all = false, keep = false } = given.input as { all?: boolean; keep?: boolean };
  if (all) return (await import('./stop-all.ts')).stopAll(environment, given.json);
  const client = openClient(environment, { start: false });
  const { pid, result } = await requestStop(client, keep, signal).finally(() => client.close());
  const giveUp = performance.now() + PATIENCE_MS;
  while (isRunning(pid)) {
    signal.throwIfAborted();
    if (performance.now() > giveUp) {
      throw new Refusal('conflict', `The daemon was told to end but process ${pid} is still there after 15 s`);
    }
    await sleep(10);
  }
  await show('daemon.stop', result, { json: given.json, screen });
  return 0;
}

async function requestStop(client: Client, keep: boolean, signal: AbortSignal) {
  const { pid } = await client.call('daemon.status', {}, { signal });
  // A daemon of another version than ours must be able to stop too, so nothing is said that need not be.
  return { pid, result: await client.call('daemon.stop', keep ? { keep } : {}, { signal }) };
}

/** Whether a process is there and not merely waiting for its parent to notice that it ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    // Where there is no /proc, the signal's word counts; where there is one, it has ended meanwhile.
    return process.platform !== 'linux';
  }
}
