import { TeamError } from './core/errors.ts';
import { openEnding } from './daemon/ending.ts';
import type { Ending } from './daemon/ending.ts';
import { openFaces } from './daemon/faces.ts';
import { takeHome } from './daemon/home.ts';
import type { DaemonOptions } from './daemon/home.ts';
import { openStorage } from './daemon/storage.ts';
import { openDaemonTeams } from './daemon/teams.ts';
import { removeCard, writeCard } from './runtime/card.ts';
import { isDiskFull, noRoom } from './runtime/home.ts';
import type { Log } from './runtime/log.ts';

export type { DaemonOptions } from './daemon/home.ts';

/** A daemon that is ready. */
export interface Daemon {
  readonly pid: number;
  readonly socket: string;
  readonly url: string;
  /** Where it listens for what comes over TCP: `127.0.0.1:43210`. */
  readonly address: string;
  /** Where its journal is. */
  readonly journal: { readonly location: string };
  readonly log: Log;
  /** Resolves when it has ended, on its own or because it was told to; rejects when it cannot go on. */
  readonly ended: Promise<void>;
  /** Ends it: calls under way are finished, sessions are told, everything is durable. */
  close(): Promise<void>;
}

/** Puts the house together and opens its doors. Throws a `TeamError`; if another daemon runs here, a `LockedError`. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const ending = openEnding();
  try {
    return await start(options, ending);
  } catch (error) {
    await ending.abandon(error);
    throw isDiskFull(error) ? noRoom(options.home.directory, error) : error;
  }
}

/** Each step uses only what the steps before it returned, and adds to the ending what it opened. */
async function start(options: DaemonOptions, ending: Ending): Promise<Daemon> {
  const taken = await takeHome(options, ending);
  const storage = await openStorage(taken, options, ending);
  const teams = openDaemonTeams(taken, storage, ending);
  const faces = await openFaces({ taken, storage, teams }, options, ending);

  const { home, card, lock, log, reserve } = taken;
  const { closers } = ending;
  const { supervisor } = teams.teams;
  lock.onLost(() => {
    log.error('home.lost', { home: home.directory });
    const lost = new TeamError('storage', `The state directory ${home.directory} was removed or replaced`);
    // Nobody would find the members again.
    void supervisor.close({ end: true }).finally(() => ending.fail(lost));
  });
  await teams.start((question) => faces.answer(question));
  // Not before: a daemon that could not start kept no teams there.
  storage.remember();
  writeCard(home.card, { ...card, journal: storage.journal.location });
  // While they can still be heard: they give back what they hold and say that they go.
  closers.add('members', () => supervisor.close({ end: !ending.keepsMembers }));
  // First of all: the next daemon waits for the lock only if nobody claims to have it.
  closers.add('card', () => removeCard(home.card));
  closers.add('farewell', () => log.info('daemon.closing'));

  const startedIn = Math.round(performance.now());
  reserve.restore();
  const { journal } = storage;
  log.info('daemon.ready', { ...card, journal, startedIn });
  const { url, address } = faces.http;
  const where = { socket: home.socket, url, address, journal };
  return { pid: card.pid, ...where, log, ended: ending.ended, close: () => ending.close() };
}
