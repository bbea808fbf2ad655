import { resolve } from 'node:path';
import { homeAt } from './client/home.ts';
import { TeamError } from './core/errors.ts';
import { openEnding } from './daemon/ending.ts';
import type { Ending } from './daemon/ending.ts';
import { openFaces } from './daemon/faces.ts';
import { takeHome } from './daemon/home.ts';
import type { DaemonOptions, PlacedOptions } from './daemon/home.ts';
import { daemonService } from './daemon/service.ts';
import { openStorage } from './daemon/storage.ts';
import { openDaemonTeams } from './daemon/teams.ts';
import { openDaemonWorks } from './daemon/works.ts';
import type { Ledger } from './ledger/ledger.ts';
import { removeCard, writeCard } from './runtime/card.ts';
import { isDiskFull, noRoom } from './runtime/home.ts';
import type { Log } from './runtime/log.ts';
import { openStopMark, STOPPED } from './runtime/stop-mark.ts';
import type { Teams } from './runtime/teams.ts';

export type { DaemonOptions } from './daemon/home.ts';

/** A daemon that is ready. */
export interface Daemon extends Pick<Teams, 'coordinator' | 'tasks' | 'mailbox' | 'hooks'> {
  readonly ledger: Ledger;
  readonly pid: number;
  readonly socket: string;
  readonly url: string;
  /** Where it listens on TCP: `127.0.0.1:43210`. */
  readonly address: string;
  /** The location of its journal. */
  readonly journal: { readonly location: string };
  readonly log: Log;
  /** Resolves when the daemon has stopped, on its own or on request; rejects when it cannot go on. */
  readonly ended: Promise<void>;
  /** Stops it: running calls finish, sessions are told, and everything is durable. */
  close(): Promise<void>;
}

/** Starts a daemon. Throws a `TeamError`; if another daemon runs in this state directory, a `LockedError`. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const home = typeof options.home === 'string' ? homeAt(resolve(options.home)) : options.home;
  const ending = openEnding();
  try {
    return await start({ ...options, home }, ending);
  } catch (error) {
    await ending.abandon(error);
    throw isDiskFull(error) ? noRoom(home.directory, error) : error;
  }
}

/** Each step uses only results of the steps before it, and registers with `ending` what it opened. */
async function start(options: PlacedOptions, ending: Ending): Promise<Daemon> {
  const taken = await takeHome(options, ending);
  const storage = await openStorage(taken, options, ending);
  const daemon = daemonService({ taken, storage, ending });
  const works = await openDaemonWorks(taken, storage, ending);
  const teams = openDaemonTeams({ taken, storage, daemon, works }, options, ending);
  // Before they can connect: the key of their tokens may be new.
  await teams.teams.renewTokens();
  const faces = await openFaces({ taken, storage, daemon, works, teams }, options, ending);

  const { home, card, lock, log, reserve } = taken;
  const { closers } = ending;
  const { coordinator, tasks, mailbox, hooks, supervisor } = teams.teams;
  lock.onLost(() => {
    log.error('home.lost', { home: home.directory });
    const lost = new TeamError('storage', `The state directory ${home.directory} was removed or replaced`);
    // No later daemon could find the members again.
    void supervisor.close({ end: true }).finally(() => ending.fail(lost));
  });
  await teams.start(faces);
  writeCard(home.card, { ...card, journal: storage.journal.location });
  // While members can still reach the daemon: they release their tasks and say that they stop.
  closers.add('members', async () => {
    if (ending.keepsMembers) return void (await supervisor.close({ end: false }));
    const stopMark = openStopMark(home.stopped);
    try {
      stopMark.set(STOPPED);
    } catch (error) {
      // The mark matters only if this daemon is killed before the stop is in the journal.
      log.warn('stop.unmarked', { error });
    }
    if (await supervisor.close({ end: true })) stopMark.clear();
  });
  // Closers run in reverse order. This one runs early: the next daemon waits for the lock only if no card names an owner.
  closers.add('card', () => removeCard(home.card));
  closers.add('farewell', () => log.info('daemon.closing'));

  const startedIn = Math.round(performance.now());
  reserve.restore();
  const { journal, ledger } = storage;
  log.info('daemon.ready', { ...card, journal, startedIn });
  const { url, address } = faces.http;
  const where = { pid: card.pid, socket: home.socket, url, address, journal };
  const parts = { coordinator, tasks, mailbox, hooks, ledger };
  return { ...where, ...parts, log, ended: ending.ended, close: () => ending.close() };
}
