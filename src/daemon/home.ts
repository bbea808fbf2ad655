import { join } from 'node:path';
import { identify } from '../agents/process.ts';
import type { Home } from '../client/home.ts';
import type { JournalPlace } from '../journals.ts';
import { removeCard, writeCard } from '../runtime/card.ts';
import type { DaemonCard } from '../runtime/card.ts';
import { prepareHome } from '../runtime/home.ts';
import { takeLock } from '../runtime/lock.ts';
import type { Lock } from '../runtime/lock.ts';
import { openLog } from '../runtime/log.ts';
import type { Log, LogLevel } from '../runtime/log.ts';
import { createRedactor } from '../runtime/redact.ts';
import type { Redactor } from '../runtime/redact.ts';
import { openReserve } from '../runtime/reserve.ts';
import type { Reserve } from '../runtime/reserve.ts';
import { openTeamEnvironments } from '../runtime/team-environments.ts';
import type { TeamEnvironments } from '../runtime/team-environments.ts';
import { readVersion } from '../runtime/version.ts';
import type { ListenOptions } from '../server/listen-options.ts';
import type { OwnAgents } from '../teammate/own-agents.ts';
import type { Ending } from './ending.ts';

/** How a daemon runs; the defaults are those of `troupe serve`. */
export interface DaemonOptions extends ListenOptions {
  /** The state directory, or the paths in it. */
  readonly home: string | Home;
  /** `sqlite` in a file, by default the home's; `nats` for several machines; `memory` forgets everything at the end. */
  readonly journal?: JournalPlace;
  /** Its name among the daemons that share a journal; by default the machine's. */
  readonly name?: string;
  /** What it has, for members that need it. */
  readonly labels?: string[];
  /** Agents that run in this process, by name; a teammate selects one with its `agentType`. */
  readonly agents?: OwnAgents;
  readonly logLevel?: LogLevel;
  /** How long running calls may take when it ends, in milliseconds. */
  readonly drainMs?: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The same with known paths. */
export type PlacedOptions = DaemonOptions & { readonly home: Home };

/** A state directory that belongs to this daemon alone. */
export interface TakenHome {
  readonly home: Home;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly environments: TeamEnvironments;
  readonly lock: Lock;
  readonly reserve: Reserve;
  /** This daemon's card; `url` is set when it listens. */
  readonly card: DaemonCard;
  readonly redactor: Redactor;
  readonly log: Log;
}

/** Takes the state directory. Throws a `LockedError` if another daemon has it. */
export async function takeHome(options: PlacedOptions, ending: Ending): Promise<TakenHome> {
  const { home, environment = process.env } = options;
  const { closers } = ending;
  const umask = process.umask(0o077);
  closers.add('umask', () => process.umask(umask));
  prepareHome(home.directory, home.socket);
  const lock = await takeLock(home);
  closers.add('lock', () => lock.release());
  const reserve = openReserve(join(home.directory, 'reserve'));
  closers.add('reserve', () => reserve.close());
  const card: DaemonCard = {
    ...identify(process.pid),
    startedAt: new Date().toISOString(),
    version: readVersion(),
    socket: home.socket,
    url: null,
  };
  writeCard(home.card, card);
  closers.add('card', () => removeCard(home.card));
  const redactor = createRedactor(environment);
  const log = openLog({ path: home.log, level: options.logLevel ?? 'info', redactor });
  ending.tell(log);
  closers.add('log', () => log.close());
  const environments = openTeamEnvironments({
    path: join(home.directory, 'environments.json'),
    environment,
    hide: (secret) => redactor.hide(secret),
    onError: (error) => log.error('environments.failed', { error }),
  });
  return { home, environment, environments, lock, reserve, card, redactor, log };
}
