import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRunning, isThere } from '../../agents/process.ts';
import { CallError } from '../../client/client.ts';
import type { Home } from '../../client/home.ts';
import type { DaemonCard } from '../../runtime/card.ts';
import { checkSocketPath, prepareHome } from '../../runtime/home.ts';
import { errorScreen, Refusal } from '../show/errors.ts';
import { fold } from '../show/text.ts';
import { warnOnTheWay } from '../show/write.ts';

/** `src/cli` and `dist/cli` are equally far from it. */
const BIN = fileURLToPath(new URL('../../../bin/troupe.js', import.meta.url));

/** On a machine that others keep busy it takes long: 12 s were seen where 0.3 is usual. One that fails says so at once. */
const READY_MS = 30_000;
const POLL_MS = 20;

/** After so long, whoever said that it starts a daemon is taken for dead. */
const STALE_MS = 5_000;

/** How a daemon ends that found another one: see `serve.ts`. */
const TRY_AGAIN = 75;

/** A daemon that ends at once may have found another one that is about to answer. */
const OTHER_MS = 1_000;

/**
 * Starts a daemon in the background and connects to it. Of many commands that find none, one starts it and the others
 * wait; should two start one, the daemons settle by their lock which of them stays. `knock` connects
 * to a daemon that is there, and returns undefined where there is none.
 */
export async function startDaemon<C>(home: Home, knock: () => Promise<C | undefined>): Promise<C> {
  prepareHome(home.directory);
  checkSocketPath(home.socket);
  const mark = join(home.directory, 'starting');
  const giveUp = performance.now() + READY_MS;
  let isMine = false;
  let child: Child | undefined;
  let isSecond = false;
  try {
    for (;;) {
      isMine ||= takeMark(mark);
      // It may have come up since we last knocked, also before we took the mark.
      const connection = await knock();
      if (connection !== undefined) return connection;
      if (isMine && !child) {
        const why = `troupe: starting the daemon for ${home.directory}, since none was running; troupe stop ends it\n`;
        warnOnTheWay(fold(why, errorScreen(), 2));
        child = spawnDaemon(home, await environmentFor(resolve(home.directory)));
      }
      // What killed it had nothing to do with us, and a second one may well live.
      if (child?.wasKilled && !isSecond) {
        isSecond = true;
        child = spawnDaemon(home, await environmentFor(resolve(home.directory)));
      }
      const now = performance.now();
      if (child?.endedAt !== undefined && now > child.endedAt + OTHER_MS) {
        const gone = tokenGone(home);
        if (gone) throw gone;
        // On a busy machine the other one may need longer to be ready than ours to find it.
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

/** How the daemon begins what it says to people. */
const SAYS = 'troupe: ';

/** Whether it is up to us to start the daemon. */
function takeMark(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The daemon has a reserve to start from, and says itself what is missing; the mark is only for politeness.
    if (code === 'ENOSPC' || code === 'EDQUOT') return true;
    if (code !== 'EEXIST') throw unwritable(path, error as Error);
  }
  const age = ageOf(path);
  if (age !== undefined && (age > STALE_MS || isGone(path))) rmSync(path, { force: true });
  return false;
}

/** Whether the one who left the mark has ended, as it does with Ctrl-C, and will start nothing any more. */
function isGone(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    // For a moment nothing is in it, and 0 would be ourselves.
    return pid > 0 && !isThere(pid);
  } catch {
    return false;
  }
}

function unwritable(path: string, error: Error): Refusal {
  return new Refusal(
    'storage',
    `The state directory ${dirname(path)} cannot be written (${error.message}): choose another with TROUPE_HOME`,
  );
}

function ageOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && Date.now() - stats.mtimeMs;
}

interface Child {
  endedAt: number | undefined;
  /** A signal ended it, and not it itself. */
  wasKilled: boolean;
  /** It ended because there is a daemon already. */
  foundAnother: boolean;
  /** What it wrote to the log last. */
  lastWords(): string;
}

function spawnDaemon(home: Home, env: NodeJS.ProcessEnv): Child {
  const directory = resolve(home.directory);
  const log = openSync(home.log, 'a', 0o600);
  const from = statSync(home.log).size;
  const daemon = spawn(process.execPath, [BIN, 'serve'], {
    detached: true,
    stdio: ['ignore', log, log],
    // Its own directory is the one that surely stays as long as it does.
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
      // What it has to say to people may take several lines, and stands after our name.
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

/** The daemon serves everybody, so it gets nothing that is about the one who happened to start it. */
async function environmentFor(directory: string): Promise<NodeJS.ProcessEnv> {
  const { TROUPE_TOKEN: _1, TROUPE_TOKEN_FILE: _2, TROUPE_MEMBER_NAME: _3, ...rest } = process.env;
  const { TROUPE_TEAM_ID: _4, TROUPE_TEAM: _5, TROUPE_TASK_ID: _6, ...others } = rest;
  // A member's program may be the one to start it; with the member's mark it would be ended with the member's turn.
  const { TROUPE_PROCESS: _7, ...environment } = others;
  const journal = environment['TROUPE_JOURNAL'];
  if (!journal) return { ...environment, TROUPE_HOME: directory };
  // It works in another folder than the one in which the words were meant.
  const { passOn } = await import('./journal-place.ts');
  return { ...environment, TROUPE_HOME: directory, TROUPE_JOURNAL: await passOn(journal) };
}

/** Why we cannot speak to a daemon that runs: what it knows us by is not where it left it. Undefined if there is none. */
export function tokenGone(home: Home): Refusal | undefined {
  const card = readCard(home.card);
  // One that is not ready yet has none to leave.
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
