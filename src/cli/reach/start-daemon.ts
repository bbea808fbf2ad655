import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRunning, isThere } from '../../agents/process.ts';
import { CallError } from '../../client/client.ts';
import type { Home } from '../../client/home.ts';
import { wordFileError } from '../../core/file-errors.ts';
import type { DaemonCard } from '../../runtime/card.ts';
import { prepareHome } from '../../runtime/home.ts';
import { errorScreen, Refusal } from '../show/errors.ts';
import { fold } from '../show/text.ts';
import { warnOnTheWay } from '../show/write.ts';

/** The relative path is the same from `src/cli` and `dist/cli`. */
const BIN = fileURLToPath(new URL('../../../bin/troupe.js', import.meta.url));

/** On a busy machine a start took 12 s instead of the usual 0.3 s. A daemon that fails says so at once. */
const READY_MS = 30_000;
const POLL_MS = 20;

/** After this long, the process that announced a start is taken for dead. */
const STALE_MS = 5_000;

/** The exit code of a daemon that found another one: see `serve.ts`. */
const TRY_AGAIN = 75;

/** If a daemon exits at once, another one may be about to answer. We wait this long for it. */
const OTHER_MS = 1_000;

/**
 * Starts a daemon in the background and connects to it. If many commands find none, one starts it and the others wait.
 * If two start one, a lock decides which daemon stays. `knock` connects to a running daemon, and returns undefined if
 * there is none.
 */
export async function startDaemon<C>(home: Home, knock: () => Promise<C | undefined>): Promise<C> {
  prepareHome(home.directory, home.socket);
  const mark = join(home.directory, 'starting');
  const giveUp = performance.now() + READY_MS;
  let isMine = false;
  let child: Child | undefined;
  let isSecond = false;
  try {
    for (;;) {
      isMine ||= takeMark(mark);
      // A daemon may have started since the last attempt, also before we created the mark.
      const connection = await knock();
      if (connection !== undefined) return connection;
      if (isMine && !child) {
        const why = `troupe: starting the daemon for ${home.directory}, since none was running; troupe stop ends it\n`;
        warnOnTheWay(fold(why, errorScreen(), 2));
        child = spawnDaemon(home, await environmentFor(resolve(home.directory)));
      }
      // Something else killed it, so a second one may live.
      if (child?.wasKilled && !isSecond) {
        isSecond = true;
        child = spawnDaemon(home, await environmentFor(resolve(home.directory)));
      }
      const now = performance.now();
      if (child?.endedAt !== undefined && now > child.endedAt + OTHER_MS) {
        const gone = tokenGone(home);
        if (gone) throw gone;
        // On a busy machine, the other daemon may need longer to be ready than ours needs to find it.
        if (!child.foundAnother) throw new CallError('no_daemon', `The daemon ended at once${child.lastWords()}`);
      }
      if (now > giveUp) {
        const said = child?.lastWords() ?? `; see ${home.log}`;
        throw new CallError('no_daemon', `The daemon was not ready after ${READY_MS / 1000} s${said}`);
      }
      await sleep(POLL_MS);
    }
  } finally {
    if (isMine) rmSync(mark, { force: true });
  }
}

/** The prefix of the daemon's messages to people. */
const SAYS = 'troupe: ';

/** Whether this process is the one that starts the daemon. */
function takeMark(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The daemon has reserved space to start with, and reports a full disk itself. The mark only avoids a second start.
    if (code === 'ENOSPC' || code === 'EDQUOT') return true;
    if (code !== 'EEXIST') throw unwritable(path, error as Error);
  }
  const age = ageOf(path);
  if (age !== undefined && (age > STALE_MS || isGone(path))) rmSync(path, { force: true });
  return false;
}

/** Whether the process that created the mark has exited, for example by Ctrl-C. */
function isGone(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    // A new file is empty for a moment, and 0 would mean our own process group.
    return pid > 0 && !isThere(pid);
  } catch {
    return false;
  }
}

function unwritable(path: string, error: Error): Refusal {
  return new Refusal(
    'storage',
    `The state directory ${dirname(path)} cannot be written (${wordFileError(error)}): choose another with TROUPE_HOME`,
  );
}

function ageOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && Date.now() - stats.mtimeMs;
}

interface Child {
  endedAt: number | undefined;
  /** Whether a signal killed it. */
  wasKilled: boolean;
  /** Whether it exited because another daemon runs. */
  foundAnother: boolean;
  /** The last message in its log. */
  lastWords(): string;
}

function spawnDaemon(home: Home, env: NodeJS.ProcessEnv): Child {
  const directory = resolve(home.directory);
  const log = openSync(home.log, 'a', 0o600);
  const from = statSync(home.log).size;
  const daemon = spawn(process.execPath, [BIN, 'serve'], {
    detached: true,
    stdio: ['ignore', log, log],
    // Its state directory exists at least as long as the daemon.
    cwd: directory,
    env,
  });
  closeSync(log);
  const child: Child = {
    endedAt: undefined,
    wasKilled: false,
    foundAnother: false,
    lastWords: () => {
      const written = readFileSync(home.log).subarray(from).toString().trim();
      // A message to people begins with our name and may have several lines.
      const own = written.lastIndexOf(`\n${SAYS}`);
      const said = written.startsWith(SAYS) || own !== -1 ? written.slice(Math.max(0, own + 1) + SAYS.length) : written;
      const last = said === written ? (said.split('\n').at(-1) ?? '') : said;
      return last === '' ? `; see ${home.log}` : `: ${last}`;
    },
  };
  const ended = (): void => {
    child.endedAt ??= performance.now();
  };
  daemon.once('error', ended).once('exit', (code, signal) => {
    child.wasKilled = signal !== null;
    child.foundAnother = code === TRY_AGAIN;
    ended();
  });
  daemon.unref();
  return child;
}

/** The daemon serves everybody, so it inherits nothing about the caller that happens to start it. */
async function environmentFor(directory: string): Promise<NodeJS.ProcessEnv> {
  const { TROUPE_TOKEN: _1, TROUPE_TOKEN_FILE: _2, TROUPE_MEMBER_NAME: _3, ...rest } = process.env;
  const { TROUPE_TEAM_ID: _4, TROUPE_TEAM: _5, TROUPE_TASK_ID: _6, ...others } = rest;
  // A member's program may start the daemon. With the member's mark, it would be killed when the member's turn ends.
  const { TROUPE_PROCESS: _7, ...environment } = others;
  const journal = environment['TROUPE_JOURNAL'];
  if (!journal) return { ...environment, TROUPE_HOME: directory };
  // The daemon has another working directory, so a relative path must become absolute.
  const { passOn } = await import('./journal-place.ts');
  return { ...environment, TROUPE_HOME: directory, TROUPE_JOURNAL: await passOn(journal) };
}

/** The error for a running daemon whose token file is gone; undefined if there is no such daemon. */
export function tokenGone(home: Home): Refusal | undefined {
  const card = readCard(home.card);
  // A daemon that is not ready yet has no token file.
  if (!card?.url || !isRunning(card) || existsSync(home.tokenFile)) return undefined;
  const { pid } = card;
  return new Refusal(
    'unauthenticated',
    `The daemon runs as process ${pid}, but its token ${home.tokenFile} is gone. End it with: kill ${pid}. The next command starts it again, with a new token`,
  );
}

function readCard(path: string): DaemonCard | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DaemonCard;
  } catch {
    return undefined;
  }
}
