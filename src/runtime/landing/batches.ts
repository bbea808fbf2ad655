import { WORKS_PER_LANDING } from '../../core/limits.ts';
import { nameOfWork } from './queued.ts';
import type { QueuedWork } from './queued.ts';

/**
 * What is known about a work that waits: good alone, assumed to be so because it is not judged here, being judged alone,
 * judged without a clear result, or nothing.
 */
export type Alone = 'green' | 'assumed' | 'judging' | 'unclear' | undefined;

/**
 * Chooses which works are judged together. Several go together only if each is known to be good alone: one bad work
 * would spoil the others. A landing that is rejected is halved, and its halves come before anything else. The size halves
 * after a rejection and doubles after a success.
 */
export function openBatches() {
  let size = WORKS_PER_LANDING;
  /** Parts of rejected landings, as names of works. */
  let halves: (readonly string[])[] = [];

  return {
    /** The works to land next, in their order; none if all are still being judged alone. */
    next(queue: readonly QueuedWork[], aloneOf: (work: QueuedWork) => Alone): readonly QueuedWork[] {
      for (const half of halves) {
        // What was withdrawn, or handed in again, is judged on its own.
        const left = queue.filter((work) => half.includes(nameOfWork(work)));
        if (left.length > 0) return landable(left);
      }
      const free = queue.filter((work) => aloneOf(work) !== 'judging');
      const good = free.filter((work) => ['green', 'assumed'].includes(aloneOf(work) ?? ''));
      // Whoever is first goes first.
      return free[0] === good[0] ? landable(good).slice(0, size) : free.slice(0, 1);
    },

    /** They landed. */
    passed(works: readonly QueuedWork[]): void {
      const isHalf = halves.length > 0;
      forget(works);
      if (!isHalf) size = Math.min(WORKS_PER_LANDING, size * 2);
    },

    /** They were rejected together. One work is then sent back; of several, the halves follow. */
    failed(works: readonly QueuedWork[]): void {
      forget(works);
      if (works.length === 1) return;
      size = Math.ceil(works.length / 2);
      const names = works.map(nameOfWork);
      halves = [names.slice(0, size), names.slice(size), ...halves];
    },
  };

  function forget(works: readonly QueuedWork[]): void {
    const gone = new Set(works.map(nameOfWork));
    halves = halves.map((half) => half.filter((name) => !gone.has(name))).filter((half) => half.length > 0);
  }
}

/**
 * Work that has to be approved is judged on its own: others that were merged onto it could not land without it. The
 * others go on without it.
 */
function landable(works: readonly QueuedWork[]): readonly QueuedWork[] {
  return works[0]?.needsApproval ? works.slice(0, 1) : works.filter(({ needsApproval }) => !needsApproval);
}

export type Batches = ReturnType<typeof openBatches>;
