import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './client/home.ts';
import { TeamError } from './core/errors.ts';
import type { Journal } from './journal/journal.ts';
import { memoryJournal } from './journal/memory.ts';
import { sqliteJournal } from './journal/sqlite.ts';
import { Ledger } from './ledger/ledger.ts';
import { Mailbox } from './ledger/mailbox.ts';
import { SharedTaskList } from './ledger/task-list.ts';
import type { DaemonStatus } from './operations/daemon-status.ts';
import type { Services } from './operations/operation.ts';
import { removeCard, writeCard } from './runtime/card.ts';
import { createClosers } from './runtime/closers.ts';
import { createHealth } from './runtime/health.ts';
import { checkSocketPath, prepareHome } from './runtime/home.ts';
import { createInstruments } from './runtime/instruments.ts';
import { takeLock } from './runtime/lock.ts';
import { openLog } from './runtime/log.ts';
import type { Log, LogLevel } from './runtime/log.ts';
import { watchLoopLag } from './runtime/loop-lag.ts';
import { observeJournal } from './runtime/observed-journal.ts';
import { replacePrivateFile } from './runtime/private-file.ts';
import { identifySelf } from './runtime/process-identity.ts';
import { createRedactor } from './runtime/redact.ts';
import { countTotals } from './runtime/totals.ts';
import { startTracing } from './runtime/tracing.ts';
import { factsOf, watchCalls } from './runtime/watched-calls.ts';
import { openCredentials } from './server/auth.ts';
import { listenHttp } from './server/http.ts';
import type { HttpListening, HttpOptions } from './server/http.ts';
import { openHub } from './server/hub.ts';
import { listenSocket } from './server/socket.ts';

/** How a daemon runs; the defaults are those of `troupe serve`. */
export interface DaemonOptions extends Pick<HttpOptions, 'host' | 'port' | 'tls' | 'origins'> {
  readonly home: Home;
  /** `sqlite` in a file, by default the home's, or `memory`, which forgets everything when the daemon ends. */
  readonly journal?: { readonly kind: 'sqlite'; readonly path?: string } | { readonly kind: 'memory' };
  readonly logLevel?: LogLevel;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A daemon that is ready. */
export interface Daemon {
  readonly pid: number;
  readonly socket: string;
  readonly url: string;
  readonly log: Log;
  /** Resolves when it has ended, on its own or because it was told to; rejects when it cannot go on. */
  readonly ended: Promise<void>;
  /** Ends it: calls under way are finished, sessions are told, everything is durable. */
  close(): Promise<void>;
}

/** How late the event loop may be before that is told. */
const LAG_MS = 200;
/** How long calls under way may take when the daemon ends. */
const DRAIN_MS = 3_000;
/** How often it is checked that the state directory is still ours. */
const HOME_CHECK_MS = 2_000;
/** How long a question about the totals waits for the first count. */
const COUNT_PATIENCE_MS = 2_000;

/** Puts the house together and opens its doors. Throws a `TeamError`; if another daemon runs here, a `LockedError`. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { home, environment = process.env } = options;
  const startedAt = new Date();
  const version = readVersion();
  const redactor = createRedactor(environment);
  const end = Promise.withResolvers<void>();
  // Nobody need wait for the end; who does hears of its failure.
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
    const card = { ...identifySelf(), startedAt: startedAt.toISOString(), version, socket: home.socket };
    writeCard(home.card, { ...card, url: null });
    log = openLog({ path: home.log, level: options.logLevel ?? 'info', redactor });
    closers.add('log', () => log?.close());
    const tell = log;
    const health = createHealth(tell);
    const tracing = await startTracing(environment, version, tell);
    closers.add('tracing', () => tracing?.close());
    const calls = watchCalls(({ operation, teamId, memberId, code, start, ms }) => {
      instruments.called(operation, code);
      tell.debug('call', { operation, teamId, memberId, code, ms });
      const attributes = { 'troupe.code': code, ...(teamId && { 'troupe.team': teamId }) };
      const named = { ...attributes, ...(memberId && { 'troupe.member': memberId }) };
      tracing?.record({ name: operation, start, ms, attributes: named, failure: code === 'ok' ? undefined : code });
    });

    const { journal: bare, ...journalFacts } = openJournal(options);
    closers.add('journal', () => bare.close());
    const journal = observeJournal(bare, {
      appended(append) {
        instruments.appended(append);
        const { team, events, start, ms, error } = append;
        const code = error === undefined ? undefined : error instanceof TeamError ? error.code : 'internal';
        const attributes = { 'troupe.team': team, 'troupe.events': events.length };
        tracing?.record({ name: 'journal.append', start, ms, attributes, failure: code });
        if (code === undefined) health.clear('journal');
        else if (code === 'storage') health.raise('journal', (error as TeamError).message, { team });
      },
      dropping: (team) => totals.beforeDrop(team),
      dropped: (team) => totals.afterDrop(team),
    });
    const ledger = new Ledger(journal, {
      exclusive: true,
      onError: (error, team) => tell.error('ledger.failed', { team, error }),
    });
    closers.add('ledger', () => ledger.close());
    const totals = countTotals({
      journal: bare,
      ledger,
      path: join(home.directory, 'totals.json'),
      onError: (error, team) => tell.error('count.failed', { team, error }),
    });
    closers.add('totals', () => totals.close());
    const mailbox = new Mailbox(ledger);
    closers.add('mailbox', () => mailbox.close());
    const tasks = new SharedTaskList(ledger);
    closers.add('tasks', () => tasks.close());
    const lag = watchLoopLag(LAG_MS, (ms) => tell.warn('loop.late', { ms: Math.round(ms) }));
    closers.add('lag', () => lag.close());
    const instruments = createInstruments({
      version,
      journal: journalFacts,
      tally: () => totals.now(),
      connections: () => hub.connections,
      loopLagMs: () => lag.milliseconds(),
      isDegraded: () => health.problems().length > 0,
    });

    const credentials = await openCredentials({ ...home, ledger });
    const hideToken = (): void => redactor.hide(readFileSync(home.tokenFile, 'utf8').trim());
    hideToken();
    const services: Services = {
      ledger,
      tasks,
      mailbox,
      watch: (operation, call, work) => calls.run(factsOf(operation, call), work),
      daemon: {
        status,
        stop() {
          tell.info('daemon.stopping', { reason: 'asked to' });
          setImmediate(() => void close());
        },
        memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
        async rotateTokens() {
          await credentials.rotate();
          hideToken();
          tell.info('tokens.rotated');
        },
      },
    };
    const hub = openHub({
      services,
      credentials,
      onError: (error, where) => tell.error('server.failed', { where, error }),
    });
    const http = await listenOnLastPort(join(home.directory, 'port'), {
      ...options,
      hub,
      ...findPages(),
      metrics: () => instruments.expose(),
    });
    closers.add('http', () => http.close());
    const socket = await listenSocket(home.socket, hub);
    closers.add('socket', () => socket.close());
    closers.add('sessions', () => hub.closeAll());
    closers.add('calls', () => calls.drain(DRAIN_MS));
    writeCard(home.card, { ...card, url: http.url });
    closers.add('card', () => removeCard(home.card));
    const guard = setInterval(() => {
      if (lock.isInPlace()) return;
      clearInterval(guard);
      tell.error('home.lost', { home: home.directory });
      end.reject(
        new TeamError('storage', `The state directory ${home.directory} was removed or replaced under the daemon`),
      );
    }, HOME_CHECK_MS).unref();
    closers.add('guard', () => clearInterval(guard));
    tell.info('daemon.ready', { ...card, url: http.url, journal: journalFacts, ms: Date.now() - startedAt.getTime() });
    closers.add('farewell', () => tell.info('daemon.closing'));
    return { pid: process.pid, socket: home.socket, url: http.url, log, ended: end.promise, close };

    async function status(): Promise<DaemonStatus> {
      await Promise.race([totals.counted, new Promise((resolve) => setTimeout(resolve, COUNT_PATIENCE_MS).unref())]);
      const { teams, activeTeams, teammates, completed, messages } = totals.now();
      const problems = health.problems();
      return {
        version,
        pid: process.pid,
        home: home.directory,
        socket: home.socket,
        url: http.url,
        tokenFile: home.tokenFile,
        journal: journalFacts,
        startedAt: startedAt.toISOString(),
        uptime: (Date.now() - startedAt.getTime()) / 1000,
        memory: process.memoryUsage.rss(),
        connections: hub.connections,
        health: { status: problems.length > 0 ? 'degraded' : 'ok', problems },
        activeTeams,
        teamMetrics: {
          totalTeamsCreated: teams,
          totalTeammatesSpawned: teammates,
          totalTeamTasksCompleted: completed,
          totalTeamMessages: messages,
        },
        counting: !totals.isComplete(),
      };
    }
  } catch (error) {
    log?.error('daemon.failed', { error });
    await closers.close();
    throw error;
  }
}

function openJournal({ home, journal = { kind: 'sqlite' } }: DaemonOptions): {
  journal: Journal;
} & DaemonStatus['journal'] {
  if (journal.kind === 'memory') {
    return { journal: memoryJournal(), kind: 'memory', location: 'memory', durability: 'memory' };
  }
  const location = journal.path ?? home.journal;
  return { journal: sqliteJournal(location), kind: 'sqlite', location, durability: 'fsync-before-ack' };
}

/** The port of the last time, if nobody has taken it: bookmarks and the settings of MCP clients go on working. */
async function listenOnLastPort(file: string, options: HttpOptions): Promise<HttpListening> {
  const http = await listenHttp({ ...options, port: options.port ?? readPort(file) }).catch((error: unknown) => {
    const isTaken =
      error instanceof TeamError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
    if (options.port !== undefined || !isTaken) throw error;
    return listenHttp({ ...options, port: 0 });
  });
  replacePrivateFile(file, `${http.port}\n`);
  return http;
}

function readPort(file: string): number {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 1023 && port < 65_536 ? port : 0;
  } catch {
    return 0;
  }
}

/** The dashboard, where it was built: beside us in `dist/`, or there seen from `src/`. */
function findPages(): { ui?: string } {
  const ui = [join(import.meta.dirname, 'ui'), join(import.meta.dirname, '../dist/ui')].find((path) =>
    existsSync(join(path, 'index.html')),
  );
  return ui === undefined ? {} : { ui };
}

/** The package's version; `src/` and `dist/` are equally far from package.json. */
function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
