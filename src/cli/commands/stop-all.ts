import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endMarked, isRunning, signalGroup } from '../../agents/process.ts';
import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import { isShared, openJournal } from '../../journals.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { readCard, removeCard } from '../../runtime/card.ts';
import { defaultName } from '../../runtime/hosts/identity.ts';
import { lastJournalOf, recallJournal } from '../../runtime/last-journal.ts';
import { openProcessRecords } from '../../runtime/process-records.ts';
import { openStopMark, recordStop } from '../../runtime/stop-mark.ts';
import { findNext, readConfigIn } from '../reach/journal-place.ts';
import { clean } from '../show/text.ts';
import { count } from '../show/views/details.ts';
import { print, toJson, warn } from '../show/write.ts';

/** A killed process exists until its memory is freed; until then it may still start something. */
const GONE_MS = 2_000;

const STAY_STOPPED = 'They stay stopped until you bring them up: troupe up, or troupe member restart NAME.\n';

/**
 * The kill switch: kills every recorded process with all descendants, and the daemon. It asks nobody, and works when
 * the daemon hangs or is gone. Acknowledged writes are safe.
 */
export async function stopAll(environment: NodeJS.ProcessEnv, json: boolean): Promise<number> {
  const home = findHome(environment);
  const { daemon, ended } = await killAll(home);
  await tellOthers(home, environment).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    warn(`troupe: The journal cannot be written, so other machines may start these members: ${clean(why)}\n`);
  });
  if (json) print(toJson({ daemon: daemon ?? null, ended }, undefined));
  else {
    const who = ended.length > 0 ? `${count(ended.length, 'teammate')} (${ended.join(', ')})` : 'no teammate';
    print(`Ended ${who}${daemon === undefined ? '; no daemon ran' : ` and the daemon (process ${daemon})`}.\n`);
    if (ended.length > 0) print(STAY_STOPPED);
  }
  return 0;
}

/** Kills the daemon and all that its members run. Returns the daemon's process id, and the members that ran. */
export async function killAll(home: Home): Promise<{ daemon: number | undefined; ended: string[] }> {
  const records = openProcessRecords(home.processes);
  markStopped(home.stopped);
  const daemon = await endDaemon(home.card);
  const ended: string[] = [];
  for (const record of records.list()) {
    const { id, identity, teamId, memberId } = record;
    if (identity && isRunning(identity)) signalGroup(identity, 'SIGKILL');
    await endMarked(id);
    records.remove(id);
    if (memberId !== undefined) ended.push(`${memberId}@${teamId}`);
  }
  // What they belonged to is not known any more.
  for (const id of records.strays()) await endMarked(id);
  return { daemon, ended };
}

/** Lets the next daemon know. What must end is ended even if the disk is full. */
function markStopped(path: string): void {
  try {
    openStopMark(path).set('stopped by troupe stop --all');
  } catch (error) {
    warn(
      `troupe: ${path} cannot be written (${(error as Error).message}): the next daemon will start the members again\n`,
    );
  }
}

/**
 * Other machines that share the journal would start the members when the lease of this one expires, so they are told
 * now. Alone, the next daemon reads the mark, and opening the journal would only take time.
 */
async function tellOthers(home: Home, environment: NodeJS.ProcessEnv): Promise<void> {
  const place = await findNext(home, environment);
  const stop = openStopMark(home.stopped).read();
  if (!isShared(place) || !stop) return;
  const { name = recallJournal(lastJournalOf(home.directory))?.name ?? defaultName() } = await readConfigIn(home);
  const { journal } = await openJournal(place, { file: home.journal });
  try {
    const errors: unknown[] = [];
    const ledger = new Ledger(journal, { exclusive: false, onError: (error) => errors.push(error) });
    const host = { ledger, hostId: name, isAlone: false, onError: (error: unknown) => errors.push(error) };
    await recordStop(host, stop, await ledger.teams());
    await ledger.close();
    if (errors.length > 0) throw errors[0];
  } finally {
    await journal.close();
  }
}

/** The teammates that still run, with or without a daemon. */
export function listLeft(environment: NodeJS.ProcessEnv): string[] {
  const { processes } = findHome(environment);
  if (!existsSync(processes)) return [];
  return openProcessRecords(processes)
    .list()
    .flatMap(({ identity, memberId, teamId }) =>
      identity && memberId !== undefined && isRunning(identity) ? [`${memberId}@${teamId}`] : [],
    );
}

/** The teams of members that nobody saw end: a daemon that stops in order removes their records. */
export function listInterrupted({ processes }: Home): string[] {
  if (!existsSync(processes)) return [];
  const records = openProcessRecords(processes).list();
  return [...new Set(records.flatMap(({ teamId, memberId }) => (memberId === undefined ? [] : [teamId])))].toSorted();
}

/** The process of the daemon, also of one that does not answer; undefined if none runs. */
export function findDaemon({ card: path }: Home): number | undefined {
  const card = readCard(path);
  return card && isRunning(card) ? card.pid : undefined;
}

/** Kills the daemon first, because it would restart the members. */
async function endDaemon(path: string): Promise<number | undefined> {
  const card = readCard(path);
  if (!card || !isRunning(card)) return undefined;
  // Without its card, the daemon counts as stopped. If it counted as crashed, connected clients would start another.
  removeCard(path);
  process.kill(card.pid, 'SIGKILL');
  const giveUp = performance.now() + GONE_MS;
  while (isRunning(card) && performance.now() < giveUp) await sleep(5);
  return card.pid;
}
