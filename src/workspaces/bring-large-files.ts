import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { UsersGit } from './users-git.ts';

/**
 * Gives the user's repository the large files (git-lfs) of a team's work, which are in the depot. Without them, git could
 * neither check out nor push what landed. They are copied, because members' programs may reach what the depot has.
 */
export async function bringLargeFiles(
  git: UsersGit,
  { repository, depot }: { readonly repository: string; readonly depot: string },
): Promise<void> {
  const from = join(depot, 'lfs', 'objects');
  if (!existsSync(from)) return;
  const common = (await git(['rev-parse', '--git-common-dir'])).out;
  const to = join(isAbsolute(common) ? common : join(repository, common), 'lfs', 'objects');
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    // Named by their hash: `ab/cd/abcd…`.
    if (!entry.isFile() || !/^[0-9a-f]{64}$/.test(entry.name)) continue;
    const target = join(to, entry.name.slice(0, 2), entry.name.slice(2, 4), entry.name);
    if (existsSync(target)) continue;
    await mkdir(dirname(target), { recursive: true });
    const draft = `${target}.troupe-${process.pid}`;
    await copyFile(join(entry.parentPath, entry.name), draft, constants.COPYFILE_FICLONE);
    await rename(draft, target);
  }
}
