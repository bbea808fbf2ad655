import { Script } from 'node:vm';
import { HANG_MS } from './until.ts';

const CALL = new Script('work()');

/**
 * Does something synchronous, and fails if it does not end. For input so large that only work in proportion to its length
 * ends at all: a test timeout cannot stop code that never lets the event loop turn.
 */
export function mustEnd(work: () => void): void {
  CALL.runInNewContext({ work }, { timeout: HANG_MS });
}
