import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endMarked, isRunning, signalGroup } from '../../agents/process.ts';
import { findHome } from '../../client/home.ts';
import { readCard, removeCard } from '../../runtime/card.ts';
import { openProcessRecords } from '../../runtime/process-records.ts';
import { count } from '../show/views/details.ts';
import { print, toJson } from '../show/write.ts';

/** A killed process is gone when its memory is given back; until then it may yet start something. */
const GONE_MS = 2_000;

/**
 * The kill switch: ends every process that is on record, to the last descendant, and the daemon. It asks nobody and works
 * when the daemon hangs or is gone. What was acknowledged is not touched.
 */
export async function stopAll(environment: NodeJS.ProcessEnv, json: boolean): Promise<number> {
  const home = findHome(environment);
  const daemon = await endDaemon(home.card);
  const ended: string[] = [];
  const records = openProcessRecords(home.processes);
  for (const record of records.list()) {
    const { id, identity, teamId, memberId } = record;
    if (identity && isRunning(identity)) signalGroup(identity.pid, 'SIGKILL');
    await endMarked(id);
    records.remove(id);
    if (memberId !== undefined) ended.push(`${memberId}@${teamId}`);
  }
  if (json) print(toJson({ daemon: daemon ?? null, ended }, undefined));
  else {
    const who = ended.length > 0 ? `${count(ended.length, 'teammate')} (${ended.join(', ')})` : 'no teammate';
    print(`Ended ${who}${daemon === undefined ? '; no daemon ran' : ` and the daemon (process ${daemon})`}.\n`);
  }
  return 0;
}

/** The teammates that are at work, whether a daemon runs or not. */
export function listLeft(environment: NodeJS.ProcessEnv): string[] {
  const { processes } = findHome(environment);
  if (!existsSync(processes)) return [];
  return openProcessRecords(processes)
    .list()
    .flatMap(({ identity, memberId, teamId }) =>
      identity && memberId !== undefined && isRunning(identity) ? [`${memberId}@${teamId}`] : [],
    );
}

/** First the one who would start them again. */
async function endDaemon(path: string): Promise<number | undefined> {
  const card = readCard(path);
  if (!card || !isRunning(card)) return undefined;
  // Without its card it counts as stopped, not as fallen: those who are connected would start another at once.
  removeCard(path);
  process.kill(card.pid, 'SIGKILL');
  const giveUp = performance.now() + GONE_MS;
  while (isRunning(card) && performance.now() < giveUp) await sleep(5);
  return card.pid;
}
