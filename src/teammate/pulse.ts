import { utimesSync, writeFileSync } from 'node:fs';

/**
 * A sign of life of a member's process for its daemon: a file that is touched every so often, whatever the agent does. The
 * file also says how often. It is beside the record of the process, so that the next daemon finds it.
 */
export function startPulse(file: string, everyMs: number): { close(): void } {
  const beat = (): void => {
    try {
      const now = Date.now() / 1_000;
      utimesSync(file, now, now);
    } catch {
      write();
    }
  };
  const write = (): void => {
    try {
      writeFileSync(file, `${everyMs}\n`, { mode: 0o600 });
    } catch {
      // The folder is gone or the disk is full: the daemon finds the same before it acts.
    }
  };
  write();
  const timer = setInterval(beat, everyMs);
  return { close: () => clearInterval(timer) };
}
