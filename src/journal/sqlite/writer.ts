import type { DatabaseSync } from 'node:sqlite';
import { hasCode } from '../../core/errors.ts';
import { isBusy, isFailedWrite, toTeamError } from './errors.ts';
import { cutOffRefused } from './log.ts';

/** The text limit of one transaction: as much as the log holds between two checkpoints, and a stall of about 10 ms. */
const GROUP_CHARS = 4 * 1024 * 1024;
/** The job limit of one transaction, so that the first job does not wait long: 512 small appends take 5 ms. */
const GROUP_JOBS = 512;
/**
 * After a job that was alone in its transaction, this many more do not wait for others: they run in the turn of the
 * event loop in which they come. A turn costs 16 us after a flush, which leaves CPU caches cold; a lone append takes 85
 * us. Reading the clock costs 7 us, so jobs are counted instead. The limit lets everything else have its turn.
 */
const ALONE_JOBS = 16;
/** How long to wait before the next try for a locked file; random, so that processes do not collide again. */
const RETRY_MS = { least: 1, most: 15 };

/** One change to the database. */
export interface Job {
  readonly team: string;
  /** What the job does to the team, for error messages: `append to`. */
  readonly doing: string;
  /** Characters to write, for the transaction's limit. */
  readonly chars: number;
  /** The job is a single statement, which is a transaction by itself. */
  readonly single: boolean;
  /** Makes the change; false if it does not apply and changed nothing. */
  run(): boolean;
  /** Called once the transaction is durable, with what `run` returned. */
  settle(changed: boolean): void;
  /** Called instead if an error prevented the change. */
  reject(error: unknown): void;
}

export interface WriterOptions {
  readonly db: DatabaseSync;
  readonly path: string;
  /** How long to retry while another process holds the file. */
  readonly patienceMs: number;
  /** A single ledger is the only writer. */
  readonly exclusive: boolean;
  /** Called after the commit for each change to a team. */
  readonly onCommit: (team: string) => void;
}

/**
 * Does all waiting jobs in one transaction, with one flush for all teams. There is no timer: jobs of one turn of the
 * event loop go together. A single ledger that owns the file has already waited for the turn's end and lets the loop
 * turn. Then jobs go together that come before its promises have run. The code for a lone job is short on purpose, see
 * `ALONE_JOBS`.
 */
export function groupWriter({ db, path, patienceMs, exclusive, onCommit }: WriterOptions) {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  // `queueMicrotask` creates an object for async_hooks each time.
  const resolved = Promise.resolve();
  let queue: Job[] = [];
  let scheduled = false;
  let alone = 0;
  /** How many of the next jobs run alone, because one of them found damage and must not fail the others. */
  let apart = 0;
  let busySince: number | undefined;
  /** The log may hold refused commits, which must be removed before the next write. */
  let hasRefused = false;
  let onDrained = () => {};

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    if (alone > 0) {
      alone--;
      void resolved.then(flush);
    } else if (exclusive) process.nextTick(flushTogether);
    else setImmediate(flushTogether);
  }

  function flushTogether(): void {
    alone = queue.length === 1 ? ALONE_JOBS : 0;
    flush();
  }

  function flush(): void {
    scheduled = false;
    if (queue.length > 1) alone = 0;
    const group = take();
    try {
      forgetRefused();
      if (group.length === 1) doOne(group[0] as Job);
      else doAll(group);
      busySince = undefined;
    } catch (error) {
      if (isBusy(error) && isPatient()) return retryLater(group);
      busySince = undefined;
      fail(group, error);
    }
    if (queue.length > 0) schedule();
    else onDrained();
  }

  function doOne(job: Job): void {
    if (!job.single) return doAll([job]);
    const changed = job.run();
    job.settle(changed);
    if (changed) onCommit(job.team);
  }

  function doAll(group: readonly Job[]): void {
    begin.run();
    let changed: boolean[];
    try {
      changed = group.map((job) => job.run());
      commit.run();
    } catch (error) {
      undo();
      throw error;
    }
    group.forEach((job, at) => {
      job.settle(changed[at] === true);
      if (changed[at] === true) onCommit(job.team);
    });
  }

  function take(): Job[] {
    const size = apart > 0 || queue.length === 1 ? 1 : groupSize();
    if (apart > 0) apart--;
    return queue.splice(0, size);
  }

  function groupSize(): number {
    let chars = 0;
    for (let size = 0; size < queue.length; size++) {
      chars += (queue[size] as Job).chars;
      if (size === GROUP_JOBS || (size > 0 && chars > GROUP_CHARS)) return size;
    }
    return queue.length;
  }

  function undo(): void {
    try {
      rollback.run();
    } catch {
      // After some errors, such as a full disk, SQLite has already rolled back.
    }
  }

  /** Cuts refused commits off the log, before anything else is written. */
  function forgetRefused(): void {
    if (!hasRefused) return;
    begin.run();
    try {
      cutOffRefused(path);
      hasRefused = false;
    } finally {
      undo();
    }
  }

  function fail(group: readonly Job[], error: unknown): void {
    if (isFailedWrite(error)) {
      hasRefused = true;
      try {
        forgetRefused();
      } catch {
        // Tried again before the next write.
      }
    }
    const errors = group.map(({ doing, team }) => toTeamError(error, path, `${doing} team ${JSON.stringify(team)}`));
    if (group.length > 1 && hasCode(errors[0], 'corrupt')) {
      apart = group.length;
      queue = [...group, ...queue];
    } else group.forEach((job, at) => job.reject(errors[at]));
  }

  function isPatient(): boolean {
    busySince ??= performance.now();
    return performance.now() - busySince < patienceMs;
  }

  function retryLater(group: readonly Job[]): void {
    queue = [...group, ...queue];
    scheduled = true;
    setTimeout(flushTogether, RETRY_MS.least + Math.random() * (RETRY_MS.most - RETRY_MS.least));
  }

  return {
    /** Does the job in the next transaction. */
    write(job: Job): void {
      queue.push(job);
      schedule();
    },

    /** Resolves when no job waits. */
    async drained(): Promise<void> {
      if (scheduled) await new Promise<void>((resolve) => (onDrained = resolve));
    },
  };
}
