import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import type { PackStore } from '../journal/packs.ts';
import { fileOf, isShared, lasts, openJournal, OWN_PLACE, readJournalPlace } from '../journals.ts';
import type { JournalPlace, OpenedJournal } from '../journals.ts';
import { Ledger } from '../ledger/ledger.ts';
import { listMoved } from '../runtime/clear-way.ts';
import { createHealth } from '../runtime/health.ts';
import type { Health } from '../runtime/health.ts';
import { defaultName } from '../runtime/hosts/identity.ts';
import { openMembership } from '../runtime/hosts/join.ts';
import type { Membership } from '../runtime/hosts/join.ts';
import { fencedJournal } from '../runtime/hosts/lease.ts';
import { lastJournalOf, recallJournal, rememberJournal, requireKept, whereLast } from '../runtime/last-journal.ts';
import { openObservation } from '../runtime/observation.ts';
import type { Observation } from '../runtime/observation.ts';
import { observeJournal } from '../runtime/observed-journal.ts';
import { countTotals } from '../runtime/totals.ts';
import type { Totals } from '../runtime/totals.ts';
import { openCredentials } from '../server/auth.ts';
import type { Credentials } from '../server/auth.ts';
import { createCounters } from '../server/hub.ts';
import type { Counters } from '../server/hub.ts';
import type { Ending } from './ending.ts';
import type { DaemonOptions, TakenHome } from './home.ts';

/** Where teams are kept, and everything that follows the writes. */
export interface Storage extends Observation {
  readonly journal: Pick<OpenedJournal, 'kind' | 'location' | 'durability' | 'advice'>;
  readonly ledger: Ledger;
  readonly health: Health;
  readonly totals: Totals;
  readonly credentials: Credentials;
  /** The server's counters; metrics read them. */
  readonly counters: Counters;
  /** The daemons that share the journal, if several can. */
  readonly membership: Membership | undefined;
  /** Where the work of members lies for the other daemons, if there are any. */
  readonly packs: PackStore | undefined;
  /** The name of this daemon among them. */
  readonly hostId: string;
  readonly labels: string[];
  /** Keeps the administrator's token out of the log. */
  hideToken(): void;
  /** The next daemon here starts with this journal unless another is named. */
  remember(): void;
}

/** Opens the journal, its ledger, and what counts and observes both. */
export async function openStorage(
  { home, environment, reserve, card, redactor, log }: TakenHome,
  options: DaemonOptions,
  { closers }: Ending,
): Promise<Storage> {
  const lastJournal = lastJournalOf(home.directory);
  const last = options.journal ? undefined : recallJournal(lastJournal);
  const recalled = last && readLastPlace(last.journal, home);
  const place = options.journal ?? recalled ?? OWN_PLACE;
  const file = fileOf(place, { file: home.journal });
  const name = options.name ?? last?.name;
  const labels = options.labels?.length ? options.labels : [...(last?.labels ?? [])];
  const isOwn = file === home.journal;
  if (file !== undefined) requireKept(lastJournal, { path: file, isOwn });
  // The lock is on the home, and a file elsewhere may be another daemon's: on one file, both would run its members.
  const exclusive = !isShared(place);
  const opened = await openJournal(place, { file: home.journal, exclusive, mark: home.serversMark }).catch(
    (error: unknown) => {
      throw last && recalled ? whereLast(last, error) : error;
    },
  );
  const { journal: bare, hosts, packs, away, again, damage, ...facts } = opened;
  closers.add('journal', () => bare.close());

  const health = createHealth(log, () => away?.()?.message);
  const counters = createCounters();
  const totals = countTotals({
    journal: bare,
    path: join(home.directory, 'totals.json'),
    onError(error, team) {
      log.error('count.failed', { team, error });
      if (error instanceof TeamError && error.code === 'corrupt') health.raise(`team ${team}`, error.message);
    },
  });
  const observation = await openObservation({
    log,
    environment,
    closers,
    reserve,
    health,
    transcripts: home.transcripts,
    version: card.version,
    journal: facts,
    tally: () => totals.now(),
    server: counters,
  });
  if (damage) health.raise('journal', damage.message);
  const membership = hosts && openMembership(hosts);
  const journal = observeJournal(membership ? fencedJournal(bare, () => membership.keeper?.lease) : bare, {
    appended: observation.appended,
    dropping: (team) => totals.beforeDrop(team),
    dropped(team) {
      totals.afterDrop(team);
      health.clear(`team ${team}`);
    },
  });
  const ledger = new Ledger(journal, {
    exclusive,
    ...(observation.around && { around: observation.around }),
    onError: (error, team) => log.error('ledger.failed', { team, error }),
  });
  closers.add('ledger', () => ledger.close());
  totals.follow(ledger);
  closers.add('totals', () => totals.close());
  const credentials = await openCredentials({
    ...home,
    ledger,
    onNewSecret: ({ message }) =>
      health.raise(
        'secret',
        `${message}. It was replaced: make new tokens for your own programs (troupe member token)`,
      ),
  });
  if (last && !recalled) {
    const what = `${lastJournal} could not be read, so the daemon uses ${home.journal}`;
    health.raise('last-journal', `${what}. If teams are missing, name their journal: troupe serve --journal ADDRESS`);
  }
  const moved = listMoved(home.directory);
  if (moved.length > 0) {
    const what = `${moved.join(', ')} in ${home.directory} was in the place of a file or folder of the daemon`;
    health.raise('moved', `${what}: look at it, then move or remove it`);
  }
  const hideToken = (): void => redactor.hide(readFileSync(home.tokenFile, 'utf8').trim());
  hideToken();
  return {
    ...observation,
    journal: facts,
    ledger,
    health,
    totals,
    credentials,
    counters,
    membership,
    packs,
    hostId: membership ? (name ?? defaultName()) : 'local',
    labels,
    hideToken,
    remember() {
      const { location } = facts;
      const kept = { location, lasts: lasts(place), isOwn, ...(again !== undefined && { again }), name, labels };
      rememberJournal(lastJournal, kept);
    },
  };
}

/** The journal of the last daemon; undefined if its address is garbage and there is an own journal to use instead. */
function readLastPlace(address: string, { directory, journal }: TakenHome['home']): JournalPlace | undefined {
  try {
    return readJournalPlace(address, directory);
  } catch {
    if (existsSync(journal)) return undefined;
    throw new TeamError(
      'conflict',
      `${lastJournalOf(directory)} should name the journal of the last daemon, and is damaged: troupe serve --journal ADDRESS`,
    );
  }
}
