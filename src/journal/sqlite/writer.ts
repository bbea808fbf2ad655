import type { DatabaseSync } from 'node:sqlite';
import { TeamError } from '../../core/errors.ts';
import { isBusy, isFailedWrite, toTeamError } from './errors.ts';
import { cutOffRefused } from './log.ts';

/** One transaction takes no more than this: as much as the log holds between two checkpoints, and a stall of some 10 ms. */
const GROUP_CHARS = 4 * 1024 * 1024;
/** And no more than this, so that the first of them does not wait for thousands: 512 small appends take some 5 ms. */
const GROUP_JOBS = 512;
/**
 * After a job that had no company so many more do not wait for company: they go in the turn of the event loop in which they
 * come. A turn costs 16 us after a flush, which leaves the processor's caches cold, where a lone append takes 85; asking for the
 * time costs 7, so they are counted. The bound lets everything else have its turn.
 */
const ALONE_JOBS = 16;
/** How long to wait, at random so that processes do not march in step, before the next try for a locked file. */
const RETRY_MS = { least: 1, most: 15 };

/** One change to the database. */
export interface Job {
  readonly team: string;
  /** What is done to the team, for the message of an error: `append to`. */
  readonly doing: string;
  /** Characters to write, for the bound of the transaction. */
  readonly chars: number;
  /** It is a single statement, which is a transaction by itself. */
  readonly single: boolean;
  /** Makes the change; false if it does not apply, and then it has changed nothing. */
  run(): boolean;
  /** Called once the transaction is durable, with what `run` returned. */
  settle(changed: boolean): void;
  /** Called instead if nothing was changed because of an error. */
  reject(error: unknown): void;
}

export interface WriterOptions {
  readonly db: DatabaseSync;
  readonly path: string;
  /** How long to try while another process holds the file. */
  readonly patienceMs: number;
  /** One ledger writes, and nobody else. */
  readonly exclusive: boolean;
  /** Called after the commit for each change to a team. */
  readonly onCommit: (team: string) => void;
}

/**
 * Does all jobs that wait in one transaction: one flush for all teams. There is no timer: what is asked for in one turn of
 * the event loop goes together. One ledger that has the file for itself has waited for the turn's end already, and lets the
 * loop turn: then what is asked for until its promises have run goes together. The code for a lone job is kept short on
 * purpose, see `ALONE_JOBS`.
 */
export function groupWriter({ db, path, patienceMs, exclusive, onCommit }: WriterOptions) {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  // `queueMicrotask` makes an object for async_hooks each time.
  const resolved = Promise.resolve();
  let queue: Job[] = [];
  let scheduled = false;
  let alone = 0;
  /** How many of the next jobs go by themselves, because one of them met damage and the others must not suffer. */
  let apart = 0;
  let busySince: number | undefined;
  /** The log may hold what was refused: before anything else is written, that has to go. */
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
      if (hasRefused) forgetRefused();
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
    if (size < queue.length) return queue.splice(0, size);
    const group = queue;
    queue = [];
    return group;
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
      // After some errors, a full disk for one, SQLite has rolled back by itself.
    }
  }

  function forgetRefused(): void {
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
        // Tried again before the next one is written.
      }
    }
    const errors = group.map(({ doing, team }) => toTeamError(error, path, `${doing} team ${JSON.stringify(team)}`));
    if (group.length > 1 && errors[0] instanceof TeamError && errors[0].code === 'corrupt') {
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

    /** Resolves when nothing waits any more. */
    async drained(): Promise<void> {
      if (scheduled) await new Promise<void>((resolve) => (onDrained = resolve));
    },
  };
}
