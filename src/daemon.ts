import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { identify } from './agents/process.ts';
import { openBridge } from './bridge/bridge.ts';
import { findNativeRoot } from './bridge/layout.ts';
import type { Home } from './client/home.ts';
import { TeamError } from './core/errors.ts';
import { daemonService } from './daemon-service.ts';
import { openJournal, readJournalPlace } from './journals.ts';
import type { JournalPlace } from './journals.ts';
import { Ledger } from './ledger/ledger.ts';
import { mcpFace } from './mcp/face.ts';
import type { Services } from './operations/operation.ts';
import { answerTranscript } from './operations/transcript.ts';
import { removeCard, writeCard } from './runtime/card.ts';
import { createClosers } from './runtime/closers.ts';
import { checkSocketPath, isDiskFull, noRoom, prepareHome } from './runtime/home.ts';
import { logRuns } from './runtime/hooks/log-runs.ts';
import { describeHost, defaultName } from './runtime/hosts/identity.ts';
import { joinHosts } from './runtime/hosts/join.ts';
import type { HostKeeper } from './runtime/hosts/keeper.ts';
import { writeLeaseFile } from './runtime/hosts/lease-file.ts';
import { fencedJournal } from './runtime/hosts/lease.ts';
import { bringHome } from './runtime/hosts/lost.ts';
import { lastJournalOf, recallJournal, rememberJournal, requireKept, whereLast } from './runtime/last-journal.ts';
import { listenOnLastPort } from './runtime/last-port.ts';
import { takeLock } from './runtime/lock.ts';
import { openLog } from './runtime/log.ts';
import type { Log, LogLevel } from './runtime/log.ts';
import { openObservation } from './runtime/observation.ts';
import { observeJournal } from './runtime/observed-journal.ts';
import { createRedactor } from './runtime/redact.ts';
import { openReserve } from './runtime/reserve.ts';
import { openTeams } from './runtime/teams.ts';
import { countTotals } from './runtime/totals.ts';
import { readVersion } from './runtime/version.ts';
import { factsOf } from './runtime/watched-calls.ts';
import { openCredentials } from './server/auth.ts';
import { listenHttp } from './server/http.ts';
import type { HttpOptions } from './server/http.ts';
import { openHub } from './server/hub.ts';
import { findBuiltPages } from './server/pages.ts';
import { listenSocket } from './server/socket.ts';

/** How a daemon runs; the defaults are those of `troupe serve`. */
export interface DaemonOptions extends Pick<HttpOptions, 'host' | 'port' | 'tls' | 'origins'> {
  readonly home: Home;
  /** `sqlite` in a file, by default the home's; `nats` for several machines; `memory` forgets everything at the end. */
  readonly journal?: JournalPlace;
  /** Its name among the daemons that share a journal; by default the machine's. */
  readonly name?: string;
  /** What it has, for members that need it. */
  readonly labels?: string[];
  readonly logLevel?: LogLevel;
  /** How long calls under way may take when it ends, in milliseconds. */
  readonly drainMs?: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

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

const DRAIN_MS = 3_000;

/** Puts the house together and opens its doors. Throws a `TeamError`; if another daemon runs here, a `LockedError`. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { home, environment = process.env } = options;
  const end = Promise.withResolvers<void>();
  // Nobody need wait for the end; who does hears why.
  end.promise.catch(() => {});
  let log: Log | undefined;
  const closers = createClosers((error, name) => log?.error('close.failed', { name, error }));
  const close = (): Promise<void> => closers.close().then(end.resolve);

  try {
    const umask = process.umask(0o077);
    closers.add('umask', () => process.umask(umask));
    prepareHome(home.directory);
    checkSocketPath(home.socket);
    const lock = await takeLock(home);
    closers.add('lock', () => lock.release());
    const reserve = openReserve(join(home.directory, 'reserve'));
    closers.add('reserve', () => reserve.close());
    const card = {
      ...identify(process.pid),
      startedAt: new Date().toISOString(),
      version: readVersion(),
      socket: home.socket,
    };
    writeCard(home.card, { ...card, url: null });
    closers.add('card', () => removeCard(home.card));
    const redactor = createRedactor(environment);
    const logging = (log = openLog({ path: home.log, level: options.logLevel ?? 'info', redactor }));
    closers.add('log', () => logging.close());

    const lastJournal = lastJournalOf(home.directory);
    const last = options.journal ? undefined : recallJournal(lastJournal);
    const place = options.journal ?? readJournalPlace(last?.journal ?? 'sqlite', home.directory);
    const name = options.name ?? last?.name;
    const labels = options.labels?.length ? options.labels : [...(last?.labels ?? [])];
    const isOwn = place.kind === 'sqlite' && (place.path ?? home.journal) === home.journal;
    if (place.kind === 'sqlite') requireKept(lastJournal, { path: place.path ?? home.journal, isOwn });
    // The lock is on the home, and a file elsewhere may be another's: two daemons on one would each run its members.
    const exclusive = place.kind !== 'nats';
    const opened = await openJournal(place, { file: home.journal, exclusive }).catch((error: unknown) => {
      throw last ? whereLast(last, error) : error;
    });
    const { journal: bareJournal, hosts, away, again, damage, ...journalFacts } = opened;
    closers.add('journal', () => bareJournal.close());
    const { health, instruments, calls, appended, around } = await openObservation({
      log: logging,
      environment,
      closers,
      reserve,
      version: card.version,
      journal: journalFacts,
      ...(away && { away }),
      tally: () => totals.now(),
      connections: () => hub.connections,
      turnedAway: () => hub.counters,
    });
    if (damage) health.raise('journal', damage.message);
    let keeper: HostKeeper | undefined;
    const fenced = hosts ? fencedJournal(bareJournal, () => keeper?.lease) : bareJournal;
    const journal = observeJournal(fenced, {
      appended,
      dropping: (team) => totals.beforeDrop(team),
      dropped(team) {
        totals.afterDrop(team);
        health.clear(`team ${team}`);
      },
    });
    const ledger = new Ledger(journal, {
      exclusive,
      ...(around && { around }),
      onError: (error, team) => logging.error('ledger.failed', { team, error }),
    });
    closers.add('ledger', () => ledger.close());
    const totals = countTotals({
      journal: bareJournal,
      ledger,
      path: join(home.directory, 'totals.json'),
      onError(error, team) {
        logging.error('count.failed', { team, error });
        if (error instanceof TeamError && error.code === 'corrupt') health.raise(`team ${team}`, error.message);
      },
    });
    closers.add('totals', () => totals.close());
    const credentials = await openCredentials({ ...home, ledger });
    const hideToken = (): void => redactor.hide(readFileSync(home.tokenFile, 'utf8').trim());
    hideToken();
    const hostId = hosts ? (name ?? defaultName()) : 'local';
    const native = openBridge({
      ledger,
      home: home.directory,
      root: findNativeRoot(environment),
      trash: join(home.directory, 'trash'),
      complete: async (teamId, taskId, memberId) => void (await teams.tasks.completeTask(teamId, taskId, memberId)),
      onError: (error) => logging.error('native.failed', { error }),
    });
    closers.add('native', () => native.close());
    const teams = openTeams({
      claims: native.claims,
      ledger,
      home,
      hostId,
      ...(hosts && { turnFor: (state, memberId) => keeper?.turnFor(state, memberId) }),
      environment,
      teammateCommand: [process.execPath, fileURLToPath(new URL('../bin/troupe.js', import.meta.url))],
      memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
      onError: (error, about) => logging.error('teams.failed', { ...about, error }),
      onHook: logRuns(logging),
    });
    let keepMembers = false;
    closers.add('teams', () => teams.close());
    const daemon = daemonService({
      home,
      environment,
      hosts,
      hostId,
      credentials,
      keeper: () => keeper,
      url: () => http.url,
      async facts() {
        await totals.ready();
        reserve.restore();
        return {
          ...card,
          journal: journalFacts,
          connections: hub.connections,
          health: health.report(),
          ...totals.report(),
        };
      },
      stop(keep) {
        keepMembers = keep;
        logging.info('daemon.stopping', { reason: 'told to', keep });
        setImmediate(() => void close());
      },
      rotated() {
        hideToken();
        logging.info('tokens.rotated');
      },
    });
    const services: Services = {
      ledger,
      native,
      ...teams,
      daemon,
      watch: (operation, call, work) => calls.run(factsOf(operation, call), work),
    };

    const onError = (error: unknown, where: string): void => logging.error('server.failed', { where, error });
    const mcp = mcpFace(services, { version: card.version, onError: (error) => onError(error, 'mcp') });
    closers.add('mcp', () => mcp.close());
    const hub = openHub({ services, credentials, mcp: mcp.lines, onError });
    const listen = (port: number) =>
      listenHttp({
        ...options,
        port,
        hub,
        ui: findBuiltPages(),
        mcp: (request, visiting) => mcp.http(request, visiting),
        metrics: () => instruments.expose(),
        health: () => health.report().status,
      });
    const http = await (options.port === undefined
      ? listenOnLastPort(join(home.directory, 'port'), listen)
      : listen(options.port));
    closers.add('http', () => http.close());
    const socket = await listenSocket(home.socket, hub);
    closers.add('socket', () => socket.close());
    closers.add('sessions', () => hub.closeAll());
    closers.add('calls', () => calls.drain(options.drainMs ?? DRAIN_MS));
    lock.onLost(() => {
      logging.error('home.lost', { home: home.directory });
      const lost = new TeamError('storage', `The state directory ${home.directory} was removed or replaced`);
      // Nobody would find the members again.
      void teams.supervisor.close({ end: true }).finally(() => end.reject(lost));
    });
    const onHostsError = (error: unknown, about: object): void => logging.error('hosts.failed', { ...about, error });
    if (hosts) {
      keeper = await joinHosts(hosts, {
        self: describeHost({
          directory: home.directory,
          name: hostId,
          labels,
          version: card.version,
          environment,
        }),
        ledger,
        teams,
        onQuestion: (question) => answerTranscript(daemon, question),
        onLease: (leaseMs) => writeLeaseFile(home.lease, leaseMs),
        onOusted(why) {
          health.raise('name', why.message);
          void teams.supervisor.close({ end: true, disowned: true });
        },
        onError: onHostsError,
      });
      closers.add('host', () => keeper?.close({ returning: keepMembers }));
    } else writeLeaseFile(home.lease, undefined);
    await teams.start();
    if (!hosts) await bringHome({ ledger, mailbox: teams.mailbox }, { self: hostId, onError: onHostsError });
    await native.start();
    await keeper?.start();
    // Not before: who could not start kept no teams there.
    rememberJournal(lastJournal, { ...journalFacts, isOwn, ...(again !== undefined && { again }), name, labels });
    writeCard(home.card, { ...card, url: http.url, journal: journalFacts.location });
    // While they can still be heard: they give back what they hold and say that they go.
    closers.add('members', () => teams.supervisor.close({ end: !keepMembers }));
    // First of all: who wants to follow us waits for the lock only if nobody claims to have it.
    closers.add('card', () => removeCard(home.card));
    closers.add('farewell', () => logging.info('daemon.closing'));
    const startedIn = Math.round(performance.now());
    reserve.restore();
    logging.info('daemon.ready', { ...card, url: http.url, journal: journalFacts, startedIn });
    const where = { socket: home.socket, url: http.url, address: http.address, journal: journalFacts };
    return { pid: card.pid, ...where, log: logging, ended: end.promise, close };
  } catch (error) {
    log?.error('daemon.failed', { error });
    await closers.close();
    throw isDiskFull(error) ? noRoom(home.directory, error) : error;
  }
}
