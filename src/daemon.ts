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
import type { Ledger } from './ledger/ledger.ts';
import { removeCard, writeCard } from './runtime/card.ts';
import { isDiskFull, noRoom } from './runtime/home.ts';
import type { Log } from './runtime/log.ts';
import type { Teams } from './runtime/teams.ts';

export type { DaemonOptions } from './daemon/home.ts';

/** A daemon that is ready. */
export interface Daemon extends Pick<Teams, 'coordinator' | 'tasks' | 'mailbox' | 'hooks'> {
  readonly ledger: Ledger;
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
  const home = typeof options.home === 'string' ? homeAt(resolve(options.home)) : options.home;
  const ending = openEnding();
  try {
    return await start({ ...options, home }, ending);
  } catch (error) {
    await ending.abandon(error);
    throw isDiskFull(error) ? noRoom(home.directory, error) : error;
  }
}

/** Each step uses only what the steps before it returned, and adds to the ending what it opened. */
async function start(options: PlacedOptions, ending: Ending): Promise<Daemon> {
  const taken = await takeHome(options, ending);
  const storage = await openStorage(taken, options, ending);
  const daemon = daemonService({ taken, storage, ending });
  const teams = openDaemonTeams({ taken, storage, daemon }, options, ending);
  const faces = await openFaces({ taken, storage, daemon, teams }, options, ending);

  const { home, card, lock, log, reserve } = taken;
  const { closers } = ending;
  const { coordinator, tasks, mailbox, hooks, supervisor } = teams.teams;
  lock.onLost(() => {
    log.error('home.lost', { home: home.directory });
    const lost = new TeamError('storage', `The state directory ${home.directory} was removed or replaced`);
    // Nobody would find the members again.
    void supervisor.close({ end: true }).finally(() => ending.fail(lost));
  });
  await teams.start(faces);
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
  const { journal, ledger } = storage;
  log.info('daemon.ready', { ...card, journal, startedIn });
  const { url, address } = faces.http;
  const where = { pid: card.pid, socket: home.socket, url, address, journal };
  const parts = { coordinator, tasks, mailbox, hooks, ledger };
  return { ...where, ...parts, log, ended: ending.ended, close: () => ending.close() };
}
