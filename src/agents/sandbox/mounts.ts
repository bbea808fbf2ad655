/** What a sandbox makes of one path: it is empty, can be read, or can be written. */
export interface Mount {
  readonly path: string;
  readonly as: 'hidden' | 'read' | 'write';
}

/** What a sandbox consists of, on every system. All paths are real: without links. */
export interface Walls {
  /** The whole file system is readable, apart from these; a longer path wins, then the later one. */
  readonly mounts: readonly Mount[];
  readonly cwd: string;
}

/** Mounts in the order in which they take effect: a folder before what is in it. What can be read anyway is left out. */
export function inOrder(mounts: readonly Mount[]): Mount[] {
  const depth = ({ path }: Mount): number => path.split('/').filter(Boolean).length;
  const last = new Map(mounts.map((mount) => [mount.path, mount]));
  const sorted = [...last.values()].toSorted((one, other) => depth(one) - depth(other));
  return sorted.filter(({ path, as }, at) => {
    const around = sorted.slice(0, at).findLast((other) => path.startsWith(`${other.path}/`));
    return as !== 'read' || (around !== undefined && around.as !== 'read');
  });
}
