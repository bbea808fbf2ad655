import { existsSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TeamError } from '../core/errors.ts';
import { conflict } from './conflict.ts';
import type { Journal, Seq } from './journal.ts';
import { forgetInMark, keepMark } from './mark.ts';
import { damagedFile } from './sqlite/check.ts';
import { toTeamError } from './sqlite/errors.ts';
import { openFollowers, versionOf } from './sqlite/follow.ts';
import { markOf, requireMarked } from './sqlite/lost.ts';
import { openDatabase, refuseForeign } from './sqlite/open.ts';
import type { OpenDatabase } from './sqlite/open.ts';
import { ownerOf, takeOwnership } from './sqlite/owner.ts';
import type { Ownership } from './sqlite/owner.ts';
import { corruptBatch, decodeRow } from './sqlite/rows.ts';
import type { Page, TeamId } from './sqlite/rows.ts';
import { groupWriter } from './sqlite/writer.ts';

const NOTHING: Page = { rows: [], isFull: false };

export interface SqliteJournalOptions {
  /** How long an append retries while another process holds the file, before it fails with `storage`. */
  readonly patienceMs?: number;
  /** How often to look for commits of other processes whose bell was missed. */
  readonly pollMs?: number;
  /**
   * Only one ledger of this process uses the file. It announces no commits and gives no turns in between; other writers
   * are refused.
   */
  readonly exclusive?: boolean;
  /** How often the mark of an exclusive file is written: commits after it can be lost unnoticed. */
  readonly markMs?: number;
}

/** A journal in a file, and the damage of that file, if any. A damaged one is read-only. */
export interface SqliteJournal extends Journal {
  readonly damage: TeamError | undefined;
}

/**
 * A journal in one SQLite file, which several processes may open at the same time. Opening throws a `TeamError`:
 * `storage`, `corrupt` or `unsupported`. A damaged file opens too: what is readable can be read, and writes fail with
 * the damage.
 *
 * A team that was dropped and created again under its name is another team. Appends go to the team whose beginning was
 * read last. So a writer that missed the change gets a conflict, even if both teams have the same number of batches.
 */
export function sqliteJournal(
  path: string,
  { patienceMs = 10_000, pollMs = 1_000, exclusive = false, markMs = 1_000 }: SqliteJournalOptions = {},
): SqliteJournal {
  const file = resolvePath(path);
  // If the owner file exists, nothing new is created beside the journal. Otherwise check the journal first.
  if (exclusive && !existsSync(ownerOf(file))) {
    requireMarked(file);
    refuseForeign(file);
  }
  let ownership = exclusive ? takeOwnership(file, { alone: true }) : undefined;
  const { db, rows, damage: found, ends } = openOwned(file, ownership);
  ownership?.compare(versionOf(db));
  const mark = ends && keepMark(markOf(file), ends, { everyMs: markMs });
  const damage = found === undefined ? undefined : damagedFile(file, found);
  const followers = openFollowers(db, file, { exclusive, pollMs });
  const writer = groupWriter({ db, path: file, patienceMs, exclusive, onCommit: (team) => followers.announce(team) });
  /** The id of each name's known team. Entries are replaced but never removed: see above. */
  const known = new Map<string, TeamId>();
  let closed: Promise<void> | undefined;

  function assertUsable(team?: string): void {
    if (closed !== undefined) throw new TeamError('storage', `The journal ${file} is closed. Open it again.`);
    // SQLite stores text as UTF-8, in which names that differ only in a lone surrogate become the same.
    if (team !== undefined && !known.has(team) && !team.isWellFormed()) {
      throw new TeamError(
        'invalid',
        `${JSON.stringify(team)} is not a valid team name: it has half a character in it.`,
      );
    }
  }

  /** Runs a read, and translates SQLite's refusals into our errors. */
  function reading<T>(team: string | undefined, read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw toTeamError(error, file, team === undefined ? 'list the teams' : `read team ${JSON.stringify(team)}`);
    }
  }

  function find(team: string): TeamId | undefined {
    return known.get(team) ?? look(team);
  }

  /** The current team of that name, after a check that it has lost nothing. */
  function look(team: string): TeamId | undefined {
    const id = rows.findTeam(team);
    if (id !== undefined) rows.requireEnd(team, id);
    // In a damaged file, a missing name may have been on a damaged page.
    else if (damage !== undefined) throw damage;
    return id;
  }

  /** The current team if reading starts at its beginning, else the one whose beginning was read. */
  function findToRead(team: string, after: Seq): TeamId | undefined {
    const id = reading(team, () => (after > 0 ? find(team) : look(team)));
    if (id !== undefined) known.set(team, id);
    return id;
  }

  /** Takes ownership with the first write, so that readers never block an exclusive writer. */
  function assertWritable(): void {
    if (damage !== undefined) throw damage;
    if (ownership?.lost) {
      if (exclusive) throw ownership.lost;
      ownership.release();
      ownership = undefined;
    }
    ownership ??= takeOwnership(file, { alone: false });
  }

  function change(team: string, doing: string, chars: number, run: () => boolean): Promise<boolean> {
    return new Promise((settle, reject) => {
      assertWritable();
      writer.write({ team, doing, chars, single: false, run, settle, reject });
    });
  }

  return {
    damage,

    append(team, expected, events) {
      return new Promise((resolve, reject) => {
        assertUsable(team);
        assertWritable();
        const body = JSON.stringify(events);
        let id: TeamId | undefined;
        writer.write({
          team,
          doing: 'append to',
          chars: body.length,
          single: expected !== 0,
          run() {
            if (expected === 0) return (id = rows.addTeam(team, body)) !== undefined;
            return (id = find(team)) !== undefined && rows.addBatch(id, expected, body);
          },
          settle(appended) {
            if (!appended || id === undefined) return reject(conflict(team, expected));
            // Only after the commit: after a rollback another team may get the number.
            known.set(team, id);
            mark?.reached(team, expected + 1);
            resolve(expected + 1);
          },
          reject,
        });
      });
    },

    async restore(team, batches) {
      assertUsable(team);
      const bodies = batches.map((events) => JSON.stringify(events));
      const chars = bodies.reduce((sum, body) => sum + body.length, 0);
      let id: TeamId | undefined;
      const isNew = await change(team, 'restore', chars, () => {
        const [first = '[]', ...others] = bodies;
        id = rows.addTeam(team, first);
        if (id === undefined) return false;
        for (const [at, body] of others.entries()) rows.addBatch(id, at + 1, body);
        return true;
      });
      if (!isNew || id === undefined) throw conflict(team, 0);
      known.set(team, id);
      mark?.reached(team, bodies.length);
    },

    async *read(team, after) {
      assertUsable(team);
      const id = findToRead(team, after);
      if (id === undefined) return;
      const end = reading(team, () => rows.findEnd(id));
      let seq = Math.max(0, after);
      while (seq < end) {
        const page = reading(team, () => rows.readPage(id, seq, end));
        if (page.rows.length === 0) {
          if (!reading(team, () => rows.hasTeam(id))) return;
          throw corruptBatch(team, seq + 1, file, 'it is missing');
        }
        for (const row of page.rows) yield decodeRow(row, ++seq, team, file);
        if (page.isFull) await nextTurn();
        assertUsable();
      }
    },

    async *follow(team, after, signal) {
      assertUsable(team);
      let resume = () => {};
      const onWake = () => resume();
      const stop = followers.listen(team, onWake);
      signal.addEventListener('abort', onWake);
      const isOver = (): boolean => signal.aborted || closed !== undefined;
      try {
        let id = findToRead(team, after);
        if (id === undefined && after > 0) return;
        let seq = Math.max(0, after);
        while (!isOver()) {
          id ??= findToRead(team, 0);
          const present = id;
          const page = present === undefined ? NOTHING : reading(team, () => rows.readPage(present, seq, Infinity));
          for (const row of page.rows) {
            yield decodeRow(row, ++seq, team, file);
            if (isOver()) return;
          }
          if (page.isFull) await nextTurn();
          if (page.rows.length > 0) continue;
          if (present !== undefined && !reading(team, () => rows.hasTeam(present))) return;
          await new Promise<void>((resolve) => (resume = resolve));
        }
      } finally {
        stop();
        signal.removeEventListener('abort', onWake);
      }
    },

    async loadSnapshot(team) {
      assertUsable(team);
      const id = findToRead(team, 0);
      if (id === undefined) return undefined;
      try {
        return rows.findSnapshot(id);
      } catch {
        // A bad snapshot does no harm: if the batches cannot be read either, reading them says so.
        return undefined;
      }
    },

    async saveSnapshot(team, snapshot) {
      assertUsable(team);
      await change(team, 'save a snapshot of', snapshot.body.length, () => {
        const id = find(team);
        if (id !== undefined) rows.putSnapshot(team, id, snapshot);
        // No follower waits for a snapshot.
        return false;
      });
    },

    async teams() {
      assertUsable();
      return reading(undefined, () => rows.listTeams()).sort();
    },

    async drop(team) {
      assertUsable(team);
      await change(team, 'drop', 0, () => {
        if (mark) mark.forget(team);
        else forgetInMark(markOf(file), team);
        return rows.deleteTeam(team);
      });
    },

    close() {
      closed ??= writer.drained().then(() => {
        followers.close();
        mark?.close();
        db.close();
        ownership?.release();
      });
      return closed;
    },
  };
}

/** Opens a file that has all it ever had. Releases the ownership of one that cannot be opened. */
function openOwned(file: string, ownership: Ownership | undefined): OpenDatabase {
  try {
    if (ownership) requireMarked(file);
    return openDatabase(file, { owns: ownership !== undefined });
  } catch (error) {
    ownership?.release();
    throw error;
  }
}
