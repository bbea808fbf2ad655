import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { replacePrivateFile } from '../private-file.ts';

/** Which hooks from checkouts the user said yes to: by content, so that any change asks again. */
export interface Approvals {
  has(hash: string): boolean;
  add(hash: string, what: string): void;
}

/** Keeps approvals in a file of the state directory. */
export function openApprovals(path: string): Approvals {
  // Read each time: a person may have approved in another process.
  const read = (): Record<string, { what: string; at: string }> => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Record<string, { what: string; at: string }>;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
  };
  return {
    has: (hash) => Object.hasOwn(read(), hash),
    add(hash, what) {
      replacePrivateFile(path, JSON.stringify({ ...read(), [hash]: { what, at: new Date().toISOString() } }, null, 2));
    },
  };
}

/** What an approval is for: the command, the folder it runs in, and the content of every file of it that is named there. */
export function hashHook(command: readonly string[] | string, cwd: string): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([command, realpathSync(cwd)]));
  for (const word of [command].flat().flatMap((text) => text.split(/[\s;|&"'()<>]+/))) {
    const content = contentOf(isAbsolute(word) ? word : join(cwd, word));
    if (content) hash.update(JSON.stringify([resolve(cwd, word), createHash('sha256').update(content).digest('hex')]));
  }
  return hash.digest('hex');
}

function contentOf(path: string): Buffer | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}
