import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { replacePrivateFile } from '../runtime/private-file.ts';

/** 32 random bytes as text. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Replaces a secret in one step. Nobody else can read it, not even while it is written. */
export async function writeSecret(path: string, secret: string): Promise<void> {
  try {
    replacePrivateFile(path, `${secret}\n`);
  } catch (error) {
    throw new TeamError('storage', `The secret ${path} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
  await syncDirectory(dirname(path));
}

/** The secret in a file that only we can read; undefined if there is no file. Any other file is refused with a `TeamError`. */
export async function readSecret(path: string): Promise<string | undefined> {
  try {
    return await readOwnSecret(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof TeamError) throw error;
    throw new TeamError('not_allowed', `The secret ${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function readOwnSecret(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { uid, mode } = await file.stat();
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
      throw new TeamError('not_allowed', `${path} can be read by others, or belongs to them`);
    }
    const secret = (await file.readFile('utf8')).trim();
    if (/^[A-Za-z0-9_-]{43,256}$/.test(secret)) return secret;
    throw new TeamError('corrupt', `${path} holds no secret`);
  } finally {
    await file.close();
  }
}

/** Changes whenever the file does; undefined if there is no file. */
export async function markOf(path: string): Promise<string | undefined> {
  try {
    const { ino, ctimeNs, size } = await stat(path, { bigint: true });
    return `${ino}:${ctimeNs}:${size}`;
  } catch {
    return undefined;
  }
}

/** Makes the new name survive a power failure. Not every file system supports that. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close();
}
