import { fstatSync, readFileSync, statSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { findHome, homeAt } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import { ERROR_CODES, TeamError } from '../../core/errors.ts';
import { explainFileError } from '../../core/file-errors.ts';
import { quote } from '../../core/text.ts';
import type { Daemon, DaemonOptions } from '../../daemon.ts';
import { prepareHome } from '../../runtime/home.ts';
import { LOG_LEVELS } from '../../runtime/log.ts';
import type { LogLevel } from '../../runtime/log.ts';
import type { Arguments } from '../line/command.ts';
import { findJournal, readConfigIn } from '../reach/journal-place.ts';

/** When compiled code is written to the cache: after the start, when the first clients have been served. */
const KEEP_CODE_AFTER_MS = 500;

/** A daemon that has stored so many batches is busy enough for optimized code to pay off. */
const BUSY_BATCHES = 1_000;

/** `EX_TEMPFAIL` of sysexits.h. */
const TRY_AGAIN = 75;

/** Runs the daemon in the foreground until a signal, `troupe stop` or a defect ends it. */
export async function runServe(given: Arguments): Promise<void> {
  try {
    const options = await readOptions(given);
    process.umask(0o077);
    prepareHome(options.home.directory, options.home.socket);
    // Only in a directory that is ours alone, because its content is run. Measured: ready after 0.4 s instead of 1.0.
    enableCompileCache(join(options.home.directory, 'cache'));
    const { startDaemon } = await import('../../daemon.ts');
    const daemon = await startDaemon(options);
    compileSoonIfBusy(daemon);
    endOnDefects(daemon);
    endOnSignals(daemon);
    announce(daemon, options);
    // A killed daemon would never write the cache.
    setTimeout(flushCompileCache, KEEP_CODE_AFTER_MS).unref();
    await daemon.ended;
    process.exit(0);
  } catch (error) {
    process.exit(report(error, given.json));
  }
}

type Options = DaemonOptions & { readonly home: Home; readonly json: boolean };

/** The flags of the table that were given. */
interface Flags {
  readonly home?: string;
  readonly port?: string;
  readonly host?: string;
  readonly bind?: string;
  readonly 'tls-cert'?: string;
  readonly 'tls-key'?: string;
  readonly origin?: readonly string[];
  readonly journal?: string;
  readonly name?: string;
  readonly label?: readonly string[];
  readonly 'log-level'?: LogLevel;
}

async function readOptions({ input, json }: Arguments): Promise<Options> {
  const { home, port, host, bind, origin = [], ...rest } = input as Flags;
  const address = host ?? bind;
  const where = homeAt(resolve(home ?? findHome(process.env).directory));
  return {
    home: where,
    json,
    ...(address !== undefined && { host: address }),
    ...(port !== undefined && { port: readPort(port) }),
    ...readTls(rest['tls-cert'], rest['tls-key']),
    ...(origin.length > 0 && { origins: origin }),
    ...(await readPlace(rest, where)),
    logLevel: rest['log-level'] ?? readLevel(process.env['TROUPE_LOG_LEVEL'] ?? 'info'),
  };
}

/**
 * Lets V8 optimize functions after 300 calls instead of 3,000, once the daemon has stored 1,000 batches. Measured: from the second
 * thousand on, a message takes 25 % less daemon time. A daemon that does less only pays for it: at once, it took a fifth to two fifths
 * more processor time for nine to fourteen small teams.
 *
 * Not at the start: V8 takes no code from a cache that was written under other flags. The start took 0.58 s of processor time instead
 * of 0.47, because Node's own modules were compiled again, and daemons and teammates overwrote each other's cache.
 */
function compileSoonIfBusy({ ledger }: Daemon): void {
  let batches = 0;
  const unsubscribe = ledger.subscribe(() => {
    batches += 1;
    if (batches < BUSY_BATCHES) return;
    unsubscribe();
    compileSoon();
  });
}

function compileSoon(): void {
  // Other versions may not know these flags, and would complain.
  if (!/^2[2-4]\./.test(process.versions.node)) return;
  setFlagsFromString('--invocation-count-for-turbofan=300');
  setFlagsFromString('--minimum-invocations-after-ic-update=50');
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new TeamError('invalid', `--port ${text}: a port is a number from 0 to 65535`);
}

function readTls(certFile: string | undefined, keyFile: string | undefined): Pick<DaemonOptions, 'tls'> {
  if (certFile === undefined && keyFile === undefined) return {};
  if (certFile === undefined || keyFile === undefined) {
    throw new TeamError('invalid', '--tls-cert and --tls-key go together');
  }
  const tls = { cert: readNamed(certFile), key: readNamed(keyFile) };
  checkPair(tls, { certFile, keyFile });
  return { tls };
}

function readNamed(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw explainFileError(error, path, 'read');
  }
}

/** OpenSSL's errors name neither the file nor the fault, so this checks both files. */
function checkPair({ cert, key }: { cert: string; key: string }, files: { certFile: string; keyFile: string }): void {
  const { X509Certificate, createPrivateKey } = process.getBuiltinModule('node:crypto');
  const certificate = attempt(() => new X509Certificate(cert));
  const privateKey = attempt(() => createPrivateKey(key));
  const swapped = !certificate && !privateKey && attempt(() => createPrivateKey(cert)) ? ': is it the key?' : '';
  if (!certificate) {
    throw new TeamError('invalid', `--tls-cert ${files.certFile} holds no certificate in PEM${swapped}`);
  }
  if (!privateKey) {
    throw new TeamError('invalid', `--tls-key ${files.keyFile} holds no private key in PEM, or one with a passphrase`);
  }
  if (certificate.checkPrivateKey(privateKey)) return;
  throw new TeamError('invalid', `--tls-key ${files.keyFile} is not the key of --tls-cert ${files.certFile}`);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Flags override the configuration file. */
async function readPlace(
  flags: Pick<Flags, 'journal' | 'name' | 'label'>,
  home: Home,
): Promise<Pick<DaemonOptions, 'journal' | 'name' | 'labels'>> {
  const config = await readConfigIn(home);
  const name = flags.name ?? config.name;
  if (name !== undefined && !/^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$/.test(name)) {
    throw new TeamError('invalid', `--name ${name}: a name is a-z and 0-9, with - and _ inside`);
  }
  const journal = findJournal(home, { given: flags.journal, environment: process.env, config });
  return {
    ...(journal && { journal }),
    ...(name !== undefined && { name }),
    labels: flags.label ? await readLabels(flags.label) : (config.labels ?? []),
  };
}

/** Checks labels as the configuration file does. */
async function readLabels(labels: readonly string[]): Promise<string[]> {
  // The schema is loaded only if there are labels.
  const { Labels } = await import('../../core/fields.ts');
  const problem = Labels.safeParse(labels).error?.issues[0];
  if (!problem) return [...labels];
  const at = problem.path[0];
  const which = typeof at === 'number' ? ` ${quote(labels[at] ?? '')}` : '';
  throw new TeamError('invalid', `--label${which}: ${problem.message}`);
}

function readLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((one) => one === text);
  if (level) return level;
  throw new TeamError('invalid', `TROUPE_LOG_LEVEL=${text}: there are ${LOG_LEVELS.join(', ')}`);
}

/** The first signal stops the daemon in order, the second at once. */
function endOnSignals(daemon: Daemon): void {
  let isEnding = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (isEnding) process.exit(1);
      isEnding = true;
      daemon.log.info('daemon.stopping', { reason: signal });
      void daemon.close();
    });
  }
}

/** After an unexpected error the state is unknown. It is safer to exit and restart from the journal. */
function endOnDefects(daemon: Daemon): void {
  const fail = (event: string) => (error: unknown) => {
    daemon.log.error(event, { error });
    process.stderr.write('troupe: ended by a bug in Troupe; see its log\n');
    process.exit(1);
  };
  process.on('uncaughtException', fail('defect.exception'));
  process.on('unhandledRejection', fail('defect.rejection'));
}

/** Announces that the daemon is ready: one line for people, or one line of JSON for programs that wait for it. */
function announce({ pid, socket, url, address, journal }: Daemon, { json, name, home }: Options): void {
  if (json) process.stdout.write(`${JSON.stringify({ ready: true, pid, socket, url, address })}\n`);
  else if (!writesInto(home.log)) {
    const who = name === undefined ? 'Troupe' : `Troupe, named ${name},`;
    // Browsers may use the address of a proxy.
    const where = new URL(url).host === address ? url : `${url}, and listens on ${address}`;
    process.stderr.write(`${who} runs at ${where} (process ${pid}, journal ${journal.location}); Ctrl-C ends it\n`);
  }
}

/** A daemon that a command started writes into its log, whose lines are for programs. */
function writesInto(log: string): boolean {
  const file = statSync(log, { throwIfNoEntry: false });
  const own = fstatSync(2);
  return file !== undefined && file.ino === own.ino && file.dev === own.dev;
}

/** Reports an error and returns the exit code. */
function report(error: unknown, json: boolean): number {
  const code = error instanceof TeamError ? error.code : 'internal';
  // For service managers: another daemon runs, and a retry may work.
  const exit = error instanceof TeamError && error.name === 'LockedError' ? TRY_AGAIN : ERROR_CODES[code].exit;
  const message = error instanceof Error ? error.message : String(error);
  if (json) process.stderr.write(`${JSON.stringify({ error: { code, message } })}\n`);
  else process.stderr.write(`troupe: ${message}\n`);
  return exit;
}
