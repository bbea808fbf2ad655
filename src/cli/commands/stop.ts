import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isRunning } from '../../agents/process.ts';
import { CallError } from '../../client/client.ts';
import type { Client } from '../../client/client.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { isAbsence, openClient } from '../reach/connect.ts';
import { Refusal } from '../show/errors.ts';
import { show } from '../show/result.ts';
import { clean, fold } from '../show/text.ts';
import { count } from '../show/views/details.ts';
import { taskNames } from '../show/words.ts';
import { print } from '../show/write.ts';

/** How long the daemon may take to write and release everything. */
const PATIENCE_MS = 15_000;

/** Stops the daemon and waits until it is gone. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { all = false, keep = false } = given.input as { all?: boolean; keep?: boolean };
  if (all) return (await import('./stop-all.ts')).stopAll(environment, given.json);
  const { result, stopped } = await stopDaemon(environment, keep, signal).catch(async (error: unknown) => {
    throw isAbsence(error) ? await nobodyToAsk(environment, error as CallError) : error;
  });
  await show('daemon.stop', stopped.length > 0 ? { ...result, stopped } : result, { json: given.json, screen });
  if (!given.json) print(fold(stopped.map(describeTakenDown).join(''), screen));
  return 0;
}

/** Asks the daemon to stop, and waits until it is gone. */
export async function stopDaemon(environment: NodeJS.ProcessEnv, keep: boolean, signal: AbortSignal) {
  const client = openClient(environment, { start: false });
  const { daemon, ...told } = await requestStop(client, keep, signal).finally(() => client.close());
  const giveUp = performance.now() + PATIENCE_MS;
  while (isRunning(daemon)) {
    signal.throwIfAborted();
    if (performance.now() > giveUp) {
      throw new Refusal('conflict', `The daemon was told to stop, but process ${daemon.pid} still runs after 15 s`);
    }
    await sleep(10);
  }
  return told;
}

/** A killed daemon leaves its teammates running. Someone who wants to stop everything must know that. */
async function nobodyToAsk(environment: NodeJS.ProcessEnv, absence: CallError): Promise<CallError> {
  const left = (await import('./stop-all.ts')).listLeft(environment);
  if (left.length === 0) return absence;
  const who = left.length === 1 ? `${left[0]} still runs` : `${left.length} teammates (${left.join(', ')}) still run`;
  const next = 'troupe stop --all kills what it left; any other command starts a daemon that takes it over';
  return new CallError('no_daemon', `${absence.message}, but ${who}: ${next}`);
}

async function requestStop(client: Client, keep: boolean, signal: AbortSignal) {
  const { pid } = await client.call('daemon.status', {}, { signal });
  const daemon = identify(pid);
  // Send only what is needed: a daemon of another version must be able to stop too.
  const stopped = keep ? [] : await findTakenDown(client, signal);
  return { daemon, stopped, result: await client.call('daemon.stop', keep ? { keep } : {}, { signal }) };
}

/** Members that stop with their daemon, their tasks, and the folder of their team. */
interface TakenDown {
  readonly team: string;
  readonly members: readonly string[];
  readonly tasks: readonly string[];
  readonly folder?: string | undefined;
}

/** The members that stop with the daemon. A daemon of another version may not answer; then nothing is reported. */
async function findTakenDown(client: Client, signal: AbortSignal): Promise<TakenDown[]> {
  try {
    const teams = await client.call('team.list', {}, { signal });
    const open = teams.filter(({ status, problem }) => status !== 'cleaned-up' && problem === undefined);
    return (await Promise.all(open.map(({ name }) => takenDownOf(client, name, signal)))).flat();
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
}

async function takenDownOf(client: Client, team: string, signal: AbortSignal): Promise<TakenDown[]> {
  const sessions = await client.call('session.list', { teamId: team }, { signal });
  // Members on other machines have no process here, and continue.
  const members = sessions.filter(({ pid }) => pid !== undefined).map(({ memberId }) => memberId);
  if (members.length === 0) return [];
  const [held, { metadata }] = await Promise.all([
    client.call('task.list', { teamId: team, status: 'in_progress' }, { signal }),
    client.call('team.show', { teamId: team }, { signal }),
  ]);
  const own = held.filter(({ assigneeId = '' }) => members.includes(assigneeId));
  const tasks = own.filter(({ work }) => work?.state !== 'submitted').map(({ id }) => id);
  const folder = metadata?.['folder'];
  return [{ team, members, tasks, ...(typeof folder === 'string' && { folder }) }];
}

/** `2 members of slow were stopped, #1 and #2 went back; troupe up in /home/me/slow continues.` */
function describeTakenDown({ team, members, tasks, folder }: TakenDown): string {
  const who = `${count(members.length, 'member')} of ${clean(team)} ${members.length === 1 ? 'was' : 'were'} stopped`;
  const back = tasks.length === 0 ? '' : `, ${taskNames(tasks)} went back`;
  const how =
    folder === undefined ? `troupe member restart NAME --team ${clean(team)}` : `troupe up in ${clean(folder)}`;
  return `${who}${back}; ${how} continues.\n`;
}
