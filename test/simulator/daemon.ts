import type { Services } from '../../src/operations/operation.ts';
import type { Owner } from './scheduler.ts';

/** A daemon that runs, or starts. */
export interface Daemon {
  readonly owner: Owner;
  readonly services: Services;
  /** Members can connect. */
  isOpen: boolean;
  /** Called when it dies. */
  readonly onGone: Set<() => void>;
}
