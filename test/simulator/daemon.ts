import type { Services } from '../../src/operations/operation.ts';
import type { Owner } from './scheduler.ts';

/** A daemon that runs, or starts. */
export interface Daemon {
  readonly owner: Owner;
  readonly services: Services;
  /** Members can connect. */
  isOpen: boolean;
  /** It has taken over what an earlier one left. */
  isStarted: boolean;
  /** Called when it dies. */
  readonly onGone: Set<() => void>;
}
