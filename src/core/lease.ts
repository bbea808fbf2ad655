import { showTime } from './account-words.ts';
import { waitsToLand } from './queue-view.ts';
import type { TaskRecord } from './state.ts';
import type { SharedTask } from './task.ts';

/** A lease is renewed when this part of it has passed: not every call is worth an event. */
const RENEWED_AFTER = 1 / 4;

/** Whether a call of the holder renews the lease of a task now. */
export function isRenewalDue({ lease, leaseUntil }: Pick<TaskRecord, 'lease' | 'leaseUntil'>, now: number): boolean {
  if (lease === undefined || leaseUntil === undefined) return false;
  return now >= leaseUntil.getTime() - lease * (1 - RENEWED_AFTER);
}

/** Whether the holder of a task was silent for longer than its lease. Handed-in work needs no holder. */
export function isLeaseOver(task: TaskRecord, now: number): boolean {
  const { status, leaseUntil } = task;
  return status === 'in_progress' && leaseUntil !== undefined && leaseUntil.getTime() <= now && !waitsToLand(task);
}

/** `until 14:30`; undefined for a task without a lease. */
export function wordLease(
  { leaseUntil }: { leaseUntil?: SharedTask['leaseUntil'] | string },
  now: number,
): string | undefined {
  return leaseUntil === undefined ? undefined : `until ${showTime(new Date(leaseUntil).getTime(), now)}`;
}
