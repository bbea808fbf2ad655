import { Script } from 'node:vm';
import { HANG_MS } from './until.ts';

const CALL = new Script('work()');

/**
 * Runs synchronous code, and fails if it does not end. For input so large that only linear work ends at all. A test
 * timeout cannot stop code that blocks the event loop.
 */
export function mustEnd(work: () => void): void {
  CALL.runInNewContext({ work }, { timeout: HANG_MS });
}
