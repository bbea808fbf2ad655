import { TeamError } from './errors.ts';
import type { ErrorCode } from './errors.ts';
import { shellWord } from './shell.ts';

interface Reason {
  readonly why: string;
  readonly remedy: string;
  readonly code: ErrorCode;
}

const DENIED: Reason = {
  why: 'you have no permission',
  remedy: 'allow it, or choose another place',
  code: 'not_allowed',
};
const FULL: Reason = { why: 'the disk is full', remedy: 'free some space', code: 'storage' };

/** What the operating system's codes mean for a person who named a path. */
const REASONS: Readonly<Record<string, Reason>> = {
  ENOENT: { why: 'there is no such file or folder', remedy: 'check the name', code: 'not_found' },
  ENOTDIR: { why: 'a part of its path is a file, not a folder', remedy: 'choose another place', code: 'invalid' },
  EISDIR: { why: 'it is a folder', remedy: 'name a file', code: 'invalid' },
  ENAMETOOLONG: { why: 'the name is too long', remedy: 'choose a shorter one', code: 'invalid' },
  ELOOP: { why: 'its links lead in a circle', remedy: 'choose another place', code: 'invalid' },
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: { why: 'the file system is read-only', remedy: 'choose another place', code: 'storage' },
  ENOSPC: FULL,
  EDQUOT: FULL,
  EMFILE: { why: 'this process has too many open files', remedy: 'try again', code: 'storage' },
};

/** Why the system refused a file or folder, in plain words. An unknown code keeps the system's own. */
export function wordFileError(error: unknown): string {
  return reasonOf(error)?.why ?? (error as Error).message;
}

/** The error for a file that a person named and that cannot be read or written: why, and what to do. */
export function explainFileError(error: unknown, path: string, wanted: 'read' | 'write'): TeamError {
  const reason = reasonOf(error);
  const options = { cause: error };
  const cannot = `${path} cannot be ${wanted === 'read' ? 'read' : 'written'}`;
  if (!reason) return new TeamError('storage', `${cannot}: ${(error as Error).message}`, options);
  if (reason === REASONS['ENOENT']) {
    if (wanted === 'read') return new TeamError('not_found', `There is no file ${path}: check the name`, options);
    const folder = folderOf(path);
    const text = `${cannot}: there is no folder ${folder}. Create it first: mkdir -p ${shellWord(folder)}`;
    return new TeamError('invalid', text, options);
  }
  return new TeamError(reason.code, `${cannot}: ${reason.why}; ${reason.remedy}`, options);
}

/**
 * The same for a file of Troupe's own: a full disk passes, so it is no bug, and whoever can wait tries again. Other errors
 * stay as they are.
 */
export function asStorageError(error: unknown): unknown {
  const reason = error instanceof TeamError ? undefined : reasonOf(error);
  if (reason?.code !== 'storage') return error;
  const { code, message } = error as { code: string; message: string };
  const text = `${reason.why}: ${reason.remedy} (${message})`;
  return new TeamError('storage', text, { cause: error, facts: { errno: code } });
}

function reasonOf(error: unknown): Reason | undefined {
  const code = String((error as { readonly code?: unknown }).code);
  return Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
}

function folderOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end < 0 ? '.' : path.slice(0, Math.max(end, 1));
}
