import { TeamError } from '../../core/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { TaskGate } from '../../ledger/task-gate.ts';
import type { LandingGit } from './landing.ts';

/** What the merge queue of a team needs. */
export interface QueueOptions {
  readonly ledger: Ledger;
  readonly gate: TaskGate;
  readonly git: LandingGit;
  readonly hostId: string;
  /** Whether another daemon that shares the journal is alive. */
  readonly isAlive: (hostId: string) => boolean;
  readonly onError: (error: unknown, about: { teamId: string }) => void;
}

/** What refuses a step that was right when it was decided. */
const PASSING: readonly string[] = ['stale_revision', 'stale_epoch', 'conflict', 'not_found', 'team_closed'];

/** Undefined if something has changed meanwhile. Its event wakes the queue, which then decides again. */
export async function unlessStale<R>(work: () => Promise<R>): Promise<R | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TeamError && PASSING.includes(error.code)) return undefined;
    throw error;
  }
}
