import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isRunning } from '../agents/process.ts';
import { CallError } from '../client/client.ts';
import type { Client } from '../client/client.ts';
import type { Arguments } from './arguments.ts';
import { isAbsence, openClient } from './connect.ts';
import { Refusal } from './errors.ts';
import type { Surroundings } from './own/own-command.ts';
import { show } from './show.ts';
import { describeTakenDown, findTakenDown } from './taken-down.ts';
import { fold } from './text.ts';
import { print } from './write.ts';

/** The daemon may take so long to write down and let go of everything. */
const PATIENCE_MS = 15_000;

/** Ends the daemon and returns when it is gone. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { all = false, keep = false } = given.input as { all?: boolean; keep?: boolean };
  if (all) return (await import('./stop-all.ts')).stopAll(environment, given.json);
  const client = openClient(environment, { start: false });
  const { daemon, result, stopped } = await requestStop(client, keep, signal)
    .catch(async (error: unknown) => {
      throw isAbsence(error) ? await nobodyToAsk(environment, error as CallError) : error;
    })
    .finally(() => client.close());
  const giveUp = performance.now() + PATIENCE_MS;
  while (isRunning(daemon)) {
    signal.throwIfAborted();
    if (performance.now() > giveUp) {
      throw new Refusal('conflict', `The daemon was told to end but process ${daemon.pid} is still there after 15 s`);
    }
    await sleep(10);
  }
  await show('daemon.stop', stopped.length > 0 ? { ...result, stopped } : result, { json: given.json, screen });
  if (!given.json) print(fold(stopped.map(describeTakenDown).join(''), screen));
  return 0;
}

/** A daemon that was killed leaves its teammates at work, and who wants an end to all of it must hear so. */
async function nobodyToAsk(environment: NodeJS.ProcessEnv, absence: CallError): Promise<CallError> {
  const left = (await import('./stop-all.ts')).listLeft(environment);
  if (left.length === 0) return absence;
  const who = left.length === 1 ? `${left[0]} works` : `${left.length} teammates (${left.join(', ')}) work`;
  const next = 'troupe stop --all ends what it left; any other command starts a daemon that takes it over';
  return new CallError('no_daemon', `${absence.message}, but ${who} on: ${next}`);
}

async function requestStop(client: Client, keep: boolean, signal: AbortSignal) {
  const { pid } = await client.call('daemon.status', {}, { signal });
  const daemon = identify(pid);
  // A daemon of another version than ours must be able to stop too, so nothing is said that need not be.
  const stopped = keep ? [] : await findTakenDown(client, signal);
  return { daemon, stopped, result: await client.call('daemon.stop', keep ? { keep } : {}, { signal }) };
}
