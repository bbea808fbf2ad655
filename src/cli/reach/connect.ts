import { CallError, Client } from '../../client/client.ts';
import type { Connect, ConnectionState } from '../../client/client.ts';
import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import { socketConnect } from '../../client/socket.ts';
import type { SocketOptions } from '../../client/socket.ts';
import { clean } from '../show/text.ts';
import { warn } from '../show/write.ts';
import { findCredential } from './credential.ts';

/** How a command reaches its daemon. */
export interface OpenOptions {
  /** Whether to start a daemon if none runs. */
  readonly start?: boolean;
  /** How long to wait for a daemon that was stopped during a call, in milliseconds. */
  readonly patience?: number;
  readonly onState?: (state: ConnectionState) => void;
}

const PATIENCE_MS = 5_000;
const RETRY_MS = 100;
const MAY_NOT_START = ', and TROUPE_NO_AUTOSTART is set: start one with troupe serve';

/** A client of this home's daemon. */
export function openClient(environment: NodeJS.ProcessEnv, options: OpenOptions = {}): Client {
  // `daemonConnect` decides whether and how long to wait, so the client itself does not retry.
  return new Client(daemonConnect(environment, options), {
    patience: 0,
    onNotice: sayOnce(),
    ...(options.onState && { onState: options.onState }),
  });
}

/** One command may make many calls; each remark about their answers is printed once. */
function sayOnce(): (message: string) => void {
  const said = new Set<string>();
  return (message) => {
    if (!said.has(message)) sayNotices([message]);
    said.add(message);
  };
}

/** Prints remarks about an answer to standard error. */
export function sayNotices(messages: readonly string[]): void {
  for (const message of messages) warn(`troupe: ${clean(message)}\n`);
}

/**
 * Connects to this home's daemon, and starts one if none runs. A daemon that was stopped while we used it is not
 * started again. One that died left its card behind, and is.
 */
export function daemonConnect(environment: NodeJS.ProcessEnv, options: OpenOptions = {}): Connect {
  const { start = !environment['TROUPE_NO_AUTOSTART'], patience = PATIENCE_MS } = options;
  const home = findHome(environment);
  requireCredential(environment);
  const connect = patientConnect({ path: home.socket, token: findCredential(environment, home) });
  let wasThere = false;
  return async (handlers) => {
    const connection = await connect(handlers).catch(async (error: unknown) => {
      if (!isAbsence(error)) throw error;
      if (start && (!wasThere || isThere(home.card))) {
        return startDaemon(home, () => connect(handlers).catch(orNothing));
      }
      if (!wasThere) throw (await tokenGone(home)) ?? absence(home, options.start === undefined ? MAY_NOT_START : '');
      return waitFor(() => connect(handlers), { home, patience });
    });
    wasThere = true;
    if (environment['TROUPE_JOURNAL']) await (await import('./other-journal.ts')).tellOfOtherJournal(environment);
    return connection;
  };
}

/** A credential file that was named must exist. Without it we would start a daemon and still be unauthenticated. */
function requireCredential(environment: NodeJS.ProcessEnv): void {
  const file = environment['TROUPE_TOKEN'] ? undefined : environment['TROUPE_TOKEN_FILE'];
  if (!file || isThere(file)) return;
  throw new CallError('unauthenticated', `There is no file ${file}, which TROUPE_TOKEN_FILE names`);
}

/** Errors of the operating system that show that a daemon exists. */
const THERE = ['EACCES', 'EPERM', 'ETIMEDOUT'];

/** Whether no daemon exists, as opposed to one that is unreachable, hangs or refuses us. */
export function isAbsence(error: unknown): boolean {
  return error instanceof CallError && error.code === 'no_daemon' && !THERE.includes(error.facts?.errno ?? '');
}

/** A daemon that has just started has a new token, so a refused token is read once more. */
function patientConnect(socket: SocketOptions): Connect {
  const connect = socketConnect(socket);
  return (handlers) =>
    connect(handlers).catch(async (error: unknown) => {
      const isRefused = error instanceof CallError && error.code === 'unauthenticated';
      if (!isRefused || typeof socket.token === 'string') throw error;
      await sleep(RETRY_MS);
      return connect(handlers);
    });
}

async function startDaemon<C>(home: Home, knock: () => Promise<C | undefined>): Promise<C> {
  return (await import('./start-daemon.ts')).startDaemon(home, knock);
}

function orNothing(error: unknown): undefined {
  if (!isAbsence(error)) throw error;
}

async function waitFor<C>(connect: () => Promise<C>, { home, patience }: { home: Home; patience: number }): Promise<C> {
  const giveUp = performance.now() + patience;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (!isAbsence(error)) throw error;
      if (performance.now() > giveUp) throw absence(home);
    }
    await sleep(RETRY_MS);
  }
}

/** The error for a daemon that runs although its token file is gone. */
async function tokenGone(home: Home): Promise<Error | undefined> {
  if (isThere(home.tokenFile) || !isThere(home.card)) return undefined;
  return (await import('./start-daemon.ts')).tokenGone(home);
}

function absence(home: Home, next = ''): CallError {
  return new CallError('no_daemon', `No daemon is running for ${home.directory}${next}`);
}

function isThere(path: string): boolean {
  return process.getBuiltinModule('node:fs').existsSync(path);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
