import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ADMIN } from '../operations/caller.ts';
import type { Caller } from '../operations/caller.ts';
import { replacePrivateFile } from '../runtime/private-file.ts';

const CODE_MS = 60_000;
const SESSION_MS = 8 * 60 * 60_000;
/** More than a person opens. The oldest goes first. */
const AT_MOST = 32;

/** Where sessions are kept, and the time. */
export interface LoginOptions {
  /** The time of day. A person may set this clock. */
  readonly now?: () => number;
  /** Milliseconds on a monotonic clock, which may stop while the machine sleeps. */
  readonly steady?: () => number;
  /**
   * Holds the hashes of sessions and when they end; only the owner can read it. Without it sessions end with the
   * daemon.
   */
  readonly file?: string | undefined;
}

/** When something ends, on each of the two clocks. The earlier one counts. */
interface End {
  readonly time: number;
  readonly steady: number;
}

const Kept = z.array(z.tuple([z.string(), z.number()]));

/**
 * Takes a person from the command line into the dashboard. A code, valid once and for a minute, opens a session of 8
 * hours, which the browser keeps as a cookie. Only hashes are stored. Sessions survive a restart of the daemon, so an
 * open page keeps working; codes do not.
 */
export function openLogins({ now = Date.now, steady = () => performance.now(), file }: LoginOptions = {}) {
  const codes = new Map<string, End>();
  const kept = file === undefined ? [] : readKept(file);
  const sessions = new Map(kept.map(([key, time]) => [key, endIn(Math.min(time - now(), SESSION_MS))]));

  return {
    /** A new one-time code. */
    code(): string {
      return add(codes, endIn(CODE_MS));
    },

    /** The id of the session that the code opens; undefined if the code is wrong, used or too old. */
    login(code: string): string | undefined {
      if (!take(codes, code)) return undefined;
      const session = add(sessions, endIn(SESSION_MS));
      keep();
      return session;
    },

    /** The caller with this session id. */
    callerOf(session: string): Caller | undefined {
      const end = sessions.get(hash(session));
      return end && !isOver(end) ? ADMIN : undefined;
    },

    logout(session: string): void {
      take(sessions, session);
      keep();
    },

    /** Ends every session and revokes every code. */
    clear(): void {
      codes.clear();
      sessions.clear();
      keep();
    },
  };

  function endIn(ms: number): End {
    return { time: now() + ms, steady: steady() + ms };
  }

  /** Neither a clock that was set back nor a machine that slept makes a session last longer. */
  function isOver({ time, steady: end }: End): boolean {
    return time <= now() || end <= steady();
  }

  /** The next daemon has another monotonic clock, so the remaining time is stored as a time of day. */
  function keep(): void {
    if (file === undefined) return;
    const ends = [...sessions].map(([key, end]) => [key, Math.min(end.time, now() + end.steady - steady())]);
    replacePrivateFile(file, `${JSON.stringify(ends)}\n`);
  }

  function add(entries: Map<string, End>, end: End): string {
    for (const [key, one] of entries) if (isOver(one) || entries.size >= AT_MOST) entries.delete(key);
    const secret = randomBytes(32).toString('base64url');
    entries.set(hash(secret), end);
    return secret;
  }

  function take(entries: Map<string, End>, secret: string): boolean {
    const key = hash(secret);
    const end = entries.get(key);
    entries.delete(key);
    return end !== undefined && !isOver(end);
  }
}

/** The sessions that an earlier daemon stored. An unreadable file means no sessions. */
function readKept(file: string): z.output<typeof Kept> {
  try {
    return Kept.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return [];
  }
}

/** Lookups use the hash, so the time that they take reveals nothing about the secret. */
function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** The dashboard's sessions. */
export type Logins = ReturnType<typeof openLogins>;
