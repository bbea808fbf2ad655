import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { TeamError } from '../../core/errors.ts';
import type { TeamEvent } from '../../core/event.ts';
import type { Seq, Snapshot, Stored } from '../journal.ts';

/** Keys of batches are `team * SPAN + seq`; see the first migration. */
const SPAN = 2 ** 32;
/** A page ends at either limit: large enough to make the step between pages cheap, too small to hold up others. */
const PAGE_ROWS = 512;
const PAGE_CHARS = 1024 * 1024;

/** A batch as stored in the file. */
export interface Row {
  readonly seq: Seq;
  readonly body: string;
  readonly sum: number;
}

/** Some batches, and whether there may be more after them. */
export interface Page {
  readonly rows: readonly Row[];
  readonly isFull: boolean;
}

/** The team's number in the file. It is never reused, even after the team is dropped. */
export type TeamId = number;

/**
 * All prepared statements of the database. Errors are SQLite's own, except for damage that SQLite does not see. (They
 * do not use `?1`, because Node 22.13 cannot bind it.)
 */
export type Rows = ReturnType<typeof prepareRows>;

export function prepareRows(db: DatabaseSync, path: string) {
  // Each of the two is one statement, so that no other process can write between index and table.
  const findTeam = db.prepare(
    'SELECT found.id, teams.name FROM teams AS found LEFT JOIN teams NOT INDEXED ON teams.id = found.id WHERE found.name = ?',
  );
  const seekTeam = db.prepare(`
    SELECT (SELECT id FROM teams WHERE name = $name) AS id,
      (SELECT count(*) FROM teams NOT INDEXED WHERE name = $name) AS listed`);
  const findId = db.prepare('SELECT id FROM teams WHERE id = ?');
  // From the table and not from the index of names, which can be damaged independently.
  const listTeams = db.prepare('SELECT name FROM teams NOT INDEXED');
  const addTeam = db.prepare('INSERT OR IGNORE INTO teams (name) VALUES (?)');
  const addFirst = db.prepare('INSERT INTO batches (id, body, sum) VALUES (?, ?, ?)');
  // The whole compare-and-set in one statement. It is ignored if the next batch exists (the key is taken), or if the
  // expected one does not (its sum is null). Selecting the values from a row makes SQLite copy them: 16 instead of 13
  // us.
  const addNext = db.prepare(
    'INSERT OR IGNORE INTO batches (id, body, sum) VALUES (? + 1, ?, (SELECT ? FROM batches WHERE id = ?))',
  );
  const findEnd = db.prepare('SELECT max(id) AS id FROM batches WHERE id > ? AND id < ?');
  const listBatches = db.prepare('SELECT id, body, sum FROM batches WHERE id > ? AND id <= ? ORDER BY id');
  const findKept = db.prepare('SELECT ifnull(max(seq), 0) AS seq FROM snapshots WHERE team = ?');
  const findSnapshot = db.prepare('SELECT seq, body, sum FROM snapshots WHERE team = ?');
  // Replaces only an older snapshot, or a damaged one beyond the end. For an intact one beyond the end see
  // `requireEnd`.
  const putSnapshot = db.prepare(`
    INSERT INTO snapshots (team, seq, body, sum)
    SELECT $team, $seq, $body, $sum WHERE EXISTS (SELECT 1 FROM batches WHERE id = $team * ${SPAN} + $seq)
    ON CONFLICT (team) DO UPDATE SET seq = excluded.seq, body = excluded.body, sum = excluded.sum
    WHERE excluded.seq >= snapshots.seq OR NOT EXISTS (SELECT 1 FROM batches WHERE id = $team * ${SPAN} + snapshots.seq)`);
  const deleteTeam = db.prepare('DELETE FROM teams WHERE name = ? RETURNING id');
  const deleteBatches = db.prepare('DELETE FROM batches WHERE id > ? AND id < ?');

  function readEnd(team: TeamId): Seq {
    const { id } = findEnd.get(team * SPAN, (team + 1) * SPAN) as { id: number | null };
    return id === null ? 0 : id - team * SPAN;
  }

  function hasTeam(team: TeamId): boolean {
    return findId.get(team) !== undefined;
  }

  function readSnapshot(team: TeamId): Row | undefined {
    const row = findSnapshot.get(team) as unknown as Row | undefined;
    return row !== undefined && isIntact(row) ? row : undefined;
  }

  /**
   * Throws if batches are lost. A team has a batch from its first moment, and every batch up to its snapshot's. Other
   * processes may write meanwhile: the end only grows, and a dropped team loses its snapshot. Hence the order of these
   * reads.
   */
  function requireEnd(name: string, team: TeamId): void {
    const { seq: kept } = findKept.get(team) as { seq: Seq };
    const end = readEnd(team);
    if (end > 0 && kept <= end) return;
    const snapshot = readSnapshot(team);
    if (snapshot !== undefined && snapshot.seq > end) throw lostBatches(name, path, end, snapshot.seq);
    if (end === 0 && hasTeam(team)) throw corruptBatch(name, 1, path, 'it is missing');
  }

  return {
    /** The team of a name. If the index misses an existing team, or names a wrong one, the file is damaged. */
    findTeam(name: string): TeamId | undefined {
      const found = findTeam.get(name) as { id: TeamId; name: string | null } | undefined;
      if (found?.name === name) return found.id;
      const { id, listed } = seekTeam.get({ name }) as { id: TeamId | null; listed: number };
      if (found !== undefined || listed !== Number(id !== null)) throw corruptName(name, path);
      return id ?? undefined;
    },

    hasTeam,

    requireEnd,

    /** A damaged row may have no name; opening the file has already found that damage. */
    listTeams: () => [...new Set(listTeams.all().map(({ name }) => name))].filter((name) => typeof name === 'string'),

    /** Adds the team with its first batch; undefined if the name is taken. */
    addTeam(name: string, body: string): TeamId | undefined {
      const { changes, lastInsertRowid } = addTeam.run(name);
      if (changes === 0) return undefined;
      const team = Number(lastInsertRowid);
      addFirst.run(team * SPAN + 1, body, checksum(body, 1));
      return team;
    },

    /** Adds the batch after `expected`; false if `expected` is not the last one. */
    addBatch(team: TeamId, expected: Seq, body: string): boolean {
      if (!Number.isInteger(expected) || expected < 1 || expected >= SPAN - 1) return false;
      const last = team * SPAN + expected;
      return addNext.run(last, body, checksum(body, expected + 1), last).changes === 1;
    },

    /** The number of the last batch; 0 for a dropped team. */
    findEnd: readEnd,

    /** One page of the batches after `after` up to `end`. */
    readPage(team: TeamId, after: Seq, end: Seq): Page {
      const found: Row[] = [];
      let chars = 0;
      const first = team * SPAN;
      for (const row of listBatches.iterate(first + after, first + Math.min(end, SPAN - 1))) {
        const { id, body, sum } = row as unknown as { id: number; body: string; sum: number };
        found.push({ seq: id - first, body, sum });
        // A damaged body can be of any type; decoding it reports that.
        chars += typeof body === 'string' ? body.length : 0;
        if (found.length === PAGE_ROWS || chars >= PAGE_CHARS) return { rows: found, isFull: true };
      }
      return { rows: found, isFull: false };
    },

    /** The snapshot, if its checksum is right. */
    findSnapshot(team: TeamId): Snapshot | undefined {
      const row = readSnapshot(team);
      return row && { seq: row.seq, body: row.body };
    },

    putSnapshot(name: string, team: TeamId, { seq, body }: Snapshot): void {
      // A snapshot that proves lost batches must stay.
      requireEnd(name, team);
      putSnapshot.run({ team, seq, body, sum: checksum(body, seq) });
    },

    /** Removes a team with all its data; false if no team has that name. */
    deleteTeam(name: string): boolean {
      const team = deleteTeam.get(name)?.['id'] as TeamId | undefined;
      if (team === undefined) return false;
      deleteBatches.run(team * SPAN, (team + 1) * SPAN);
      return true;
    },
  };
}

/** Finds the last batch of each team. */
export const ENDS = `
  SELECT name, (SELECT max(batches.id) FROM batches WHERE batches.id > teams.id * ${SPAN}
    AND batches.id < (teams.id + 1) * ${SPAN}) - teams.id * ${SPAN} AS seq FROM teams NOT INDEXED`;

/** The last batch of each team. For connections without the statements above. */
export function readEnds(db: DatabaseSync): Map<string, Seq> {
  return new Map(
    db
      .prepare(ENDS)
      .all()
      .map(({ name, seq }) => [String(name), Number(seq)]),
  );
}

/** Decodes a row that must hold batch `seq`; throws `corrupt` otherwise. */
export function decodeRow(row: Row, seq: Seq, team: string, path: string): Stored {
  if (row.seq !== seq) throw corruptBatch(team, seq, path, 'it is missing');
  if (!isIntact(row)) throw corruptBatch(team, seq, path, 'its checksum is wrong');
  try {
    return { seq, events: JSON.parse(row.body) as TeamEvent[] };
  } catch (error) {
    throw corruptBatch(team, seq, path, 'it is not JSON', error);
  }
}

/** The error for a batch that cannot be read. */
export function corruptBatch(team: string, seq: Seq, path: string, why: string, cause?: unknown): TeamError {
  return new TeamError(
    'corrupt',
    `Batch ${seq} of team ${JSON.stringify(team)} in ${path} cannot be read: ${why}. ` +
      'Restore the file from a copy; other teams still work.',
    { cause },
  );
}

function lostBatches(team: string, path: string, end: Seq, kept: Seq): TeamError {
  const lost = kept === end + 1 ? `batch ${kept} is lost` : `batches ${end + 1} to ${kept} are lost`;
  return new TeamError(
    'corrupt',
    `Team ${JSON.stringify(team)} in ${path} cannot be read: ${lost}; its snapshot of batch ${kept} shows that they were there. ` +
      'Restore the file from a copy; other teams still work.',
  );
}

function corruptName(team: string, path: string): TeamError {
  return new TeamError(
    'corrupt',
    `Team ${JSON.stringify(team)} in ${path} cannot be found for sure: the list of teams is damaged. Restore the file from a copy.`,
  );
}

/** Damage can also turn a text into another type. */
function isIntact({ seq, body, sum }: Row): boolean {
  return typeof body === 'string' && sum === checksum(body, seq);
}

/** SQLite has no checksums, so a flipped bit in a text would go unnoticed. The sum includes the batch's number. */
function checksum(body: string, seq: Seq): number {
  return crc32(body, seq % SPAN);
}
