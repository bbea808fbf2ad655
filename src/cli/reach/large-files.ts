import { constants, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { UserGit } from './git.ts';

/**
 * Gives the user's repository the large files (git-lfs) of a team's work, which are in the depot. Without them, git could
 * neither check out nor push what landed. They are copied, because members' programs may reach what the depot has.
 */
export function bringLargeFiles(git: UserGit, { repository, depot }: { repository: string; depot: string }): void {
  const from = join(depot, 'lfs', 'objects');
  if (!existsSync(from)) return;
  const common = git(['rev-parse', '--git-common-dir']).out;
  const to = join(isAbsolute(common) ? common : join(repository, common), 'lfs', 'objects');
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    // Named by their hash: `ab/cd/abcd…`.
    if (!entry.isFile() || !/^[0-9a-f]{64}$/.test(entry.name)) continue;
    const target = join(to, entry.name.slice(0, 2), entry.name.slice(2, 4), entry.name);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    const draft = `${target}.troupe-${process.pid}`;
    copyFileSync(join(entry.parentPath, entry.name), draft, constants.COPYFILE_FICLONE);
    renameSync(draft, target);
  }
}
