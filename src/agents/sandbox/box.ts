import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import { isThere } from '../process.ts';

/** The longest socket path on Linux and on macOS, without the final zero byte. */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

let made = 0;

/**
 * Makes the folder of a sandbox: its sockets and its credential. Its name has the process that made it, so that what a
 * killed process left is found and removed.
 */
export function makeBox(state: string): string {
  const boxes = join(state, 'box');
  mkdirSync(boxes, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(boxes)) {
    const pid = Number(name.split('-')[0]);
    if (pid !== process.pid && !isThere(pid)) rmSync(join(boxes, name), { recursive: true, force: true });
  }
  made++;
  const box = join(boxes, `${process.pid}-${made}`);
  const longest = join(box, 'daemon.sock');
  if (Buffer.byteLength(longest) > SOCKET_PATH_BYTES) {
    throw new TeamError(
      'storage',
      `The state directory ${state} has too long a path for the sockets of a sandbox: set TROUPE_HOME to a shorter one`,
    );
  }
  rmSync(box, { recursive: true, force: true });
  mkdirSync(box, { mode: 0o700 });
  return box;
}
