import { inOrder } from './mounts.ts';
import type { Mount, Walls } from './mounts.ts';

/** What a program on macOS may reach. */
export interface Doors {
  /** Ports of this machine: the daemon's, the proxy's, and those that the settings name. */
  readonly ports: readonly number[];
  /** Sockets in the file system. */
  readonly sockets: readonly string[];
}

/** The command line that runs a program in the sandbox of macOS. */
export function seatbeltCommand(
  program: string,
  { walls, doors }: { readonly walls: Walls; readonly doors: Doors },
  command: readonly string[],
): [string, ...string[]] {
  return [program, '-p', seatbeltProfile(walls, doors), ...command];
}

/**
 * The profile for `sandbox-exec`. Of several rules that fit, the last one counts. Unlike on Linux, processes are not in a
 * namespace of their own: the profile only keeps them from signalling others.
 */
export function seatbeltProfile({ mounts }: Walls, { ports, sockets }: Doors): string {
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    '(allow file-write* (subpath "/dev"))',
    ...inOrder(mounts).flatMap(rulesFor),
    // Programs look at every folder on the way to a file.
    '(allow file-read-metadata)',
    '(deny network*)',
    ...ports.map((port) => `(allow network-outbound (remote ip "localhost:${port}"))`),
    ...sockets.map((path) => `(allow network-outbound (remote unix-socket (path-literal ${text(path)})))`),
    '(deny signal (target others))',
    '(deny process-info* (target others))',
    '',
  ].join('\n');
}

function rulesFor({ path, as }: Mount): string[] {
  const place = `(subpath ${text(path)})`;
  if (as === 'hidden') return [`(deny file-read* file-write* ${place})`];
  if (as === 'write') return [`(allow file-read* file-write* ${place})`];
  return [`(allow file-read* ${place})`, `(deny file-write* ${place})`];
}

/** A text of the profile's language. */
function text(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
