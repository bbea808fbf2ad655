import { inOrder } from './mounts.ts';
import type { Walls } from './mounts.ts';

const OPTIONS = { hidden: '--tmpfs', read: '--ro-bind', write: '--bind' } as const;

/**
 * SIGTERM would end bubblewrap at once, and everything in it by SIGKILL. It is ignored there, so that the program gets
 * its time to end: the first program in the sandbox does not ignore it for those that it starts.
 */
const PATIENT = ['/bin/sh', '-c', 'trap "" TERM INT HUP; exec "$@"', 'sh'] as const;

/** The command line that runs a program in bubblewrap: in its own processes, its own network, its own file system. */
export function bubblewrapCommand(
  bwrap: string,
  { mounts, cwd }: Walls,
  command: readonly string[],
): [string, ...string[]] {
  const system = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
  const rest = inOrder(mounts).flatMap(({ path, as }) =>
    as === 'hidden' ? [OPTIONS[as], path] : [OPTIONS[as], path, path],
  );
  return [...PATIENT, bwrap, ...NAMESPACES, ...system, ...rest, '--chdir', cwd, '--', ...command];
}

/**
 * Without capabilities a program cannot undo what hides a folder, even for root. When bubblewrap or its parent ends, the
 * kernel ends all processes in it.
 */
const NAMESPACES = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--cap-drop',
  'ALL',
  '--die-with-parent',
];

/** The smallest sandbox that shows whether bubblewrap works here. */
export function bubblewrapTrial(): string[] {
  return [
    ...NAMESPACES,
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    '/tmp',
    '--',
    '/bin/true',
  ];
}
