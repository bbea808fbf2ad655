import { readFileSync } from 'node:fs';
import { endMarked, isRunning, signalGroup } from '../agents/process.ts';
import { findHome } from '../client/home.ts';
import { openProcessRecords } from '../runtime/process-records.ts';
import { print, toJson } from './write.ts';

/**
 * The kill switch: ends every process that is on record, to the last descendant, and the daemon. It asks nobody and works
 * when the daemon hangs or is gone. What was acknowledged is not touched.
 */
export async function stopAll(environment: NodeJS.ProcessEnv, json: boolean): Promise<number> {
  const home = findHome(environment);
  const daemon = endDaemon(home.card);
  const ended: string[] = [];
  const records = openProcessRecords(home.processes);
  for (const record of records.list()) {
    const { id, identity, teamId, memberId } = record;
    if (identity && isRunning(identity)) signalGroup(identity.pid, 'SIGKILL');
    await endMarked(id);
    records.remove(id);
    ended.push(`${memberId}@${teamId}`);
  }
  if (json) print(toJson({ daemon: daemon ?? null, ended }, undefined));
  else {
    const who = ended.length > 0 ? `${ended.length} teammates (${ended.join(', ')})` : 'no teammate';
    print(`Ended ${who}${daemon === undefined ? '; no daemon ran' : ` and the daemon (process ${daemon})`}.\n`);
  }
  return 0;
}

/** First the one who would start them again. */
function endDaemon(card: string): number | undefined {
  try {
    const { pid, startTime, bootId } = JSON.parse(readFileSync(card, 'utf8')) as {
      pid: number;
      startTime: string | number | null;
      bootId: string | null;
    };
    if (!isRunning({ pid, startTime: String(startTime ?? ''), bootId: bootId ?? '' })) return undefined;
    process.kill(pid, 'SIGKILL');
    return pid;
  } catch {
    return undefined;
  }
}
