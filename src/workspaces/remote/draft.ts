import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { borrowingFrom } from '../depot/handle.ts';
import { inNewFolder } from '../places.ts';
import type { Places } from '../places.ts';

/** An empty repository that borrows the objects of a depot. */
export interface Draft {
  readonly dir: string;
  readonly objects: string;
  /** What git needs to find the objects of the depot. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Does something in an empty repository that borrows the objects of a depot, and removes it afterwards. Whoever could
 * change the settings or the refs of the depot changes nothing of what git does there.
 */
export async function inDraft<R>(
  { dir: depot, format, places }: { dir: string; format: 'sha1' | 'sha256'; places: Places },
  work: (draft: Draft) => Promise<R>,
): Promise<R> {
  return inNewFolder(places, async (dir) => {
    const objects = join(dir, 'objects');
    for (const folder of [join(objects, 'pack'), join(objects, 'info'), join(dir, 'refs'), join(dir, 'no-tree')]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    await writeFile(join(dir, 'HEAD'), 'ref: refs/heads/none\n');
    await writeFile(join(dir, 'config'), CONFIG[format]);
    await copyFile(join(depot, 'shallow'), join(dir, 'shallow')).catch(ifMissing);
    return work({ dir, objects, variables: borrowingFrom(depot) });
  });
}

const CONFIG = {
  sha1: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
  sha256: '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n',
} as const;

function ifMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
