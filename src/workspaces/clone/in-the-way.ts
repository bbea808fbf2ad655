import { lstat } from 'node:fs/promises';
import { TeamError } from '../../core/errors.ts';
import type { RawChange } from '../depot/compare.ts';
import { inFolder, toText } from '../paths.ts';

/**
 * Refuses if a file that no save has, such as an ignored one, is where the new tree has something. Git itself takes
 * ignored files for worthless and overwrites them.
 */
export async function requireFree(folder: string, changes: readonly RawChange[]): Promise<void> {
  const going = new Set(changes.flatMap(({ path, status }) => (status === 'deleted' ? path.toString('latin1') : [])));
  const looked = new Set<string>();
  const found: string[] = [];
  for (const { path, status } of changes) {
    if (status !== 'added') continue;
    if (await lstat(inFolder(folder, path)).catch(() => undefined)) {
      // A folder whose files all go makes room for a file.
      const under = `${path.toString('latin1')}/`;
      if (![...going].some((other) => other.startsWith(under))) found.push(toText(path));
    }
    for (let end = path.indexOf(47); end !== -1; end = path.indexOf(47, end + 1)) {
      const parent = path.subarray(0, end);
      const name = parent.toString('latin1');
      if (looked.has(name)) continue;
      looked.add(name);
      const facts = await lstat(inFolder(folder, parent)).catch(() => undefined);
      if (facts && !facts.isDirectory() && !going.has(name)) found.push(toText(parent));
    }
  }
  if (found.length === 0) return;
  const names = found.slice(0, 5).map((path) => JSON.stringify(path));
  const more = found.length > names.length ? ` and ${found.length - names.length} more` : '';
  throw new TeamError(
    'conflict',
    `${names.join(', ')}${more} in ${folder} would be overwritten, and no save has them: move or remove them first`,
  );
}
