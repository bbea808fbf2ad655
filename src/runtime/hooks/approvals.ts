import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { replacePrivateFile } from '../private-file.ts';
import { filesOfHook } from './hook-files.ts';
import type { HookText } from './hook-files.ts';

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

/**
 * What an approval is for: the command and how it runs, the folder, which variables of ours it sees, and the content of
 * every file that decides what it does.
 */
export function hashHook(hook: HookText & { readonly env?: readonly string[] | undefined }, cwd: string): string {
  const { command, executor, env = [] } = hook;
  const files = [...filesOfHook(hook, cwd)].map(([path, content]) => [path, digest(content)]);
  return digest(JSON.stringify([command, executor, env, realpathSync(cwd), files]));
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
