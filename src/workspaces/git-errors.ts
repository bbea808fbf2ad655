import { existsSync } from 'node:fs';
import { TeamError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';

/** A git command that failed. */
export interface Failure {
  readonly args: readonly string[];
  /** Its exit code, or what ended it. */
  readonly how: number | string;
  readonly err: string;
  readonly dir: string;
  readonly limits: { readonly maxBytes: number; readonly timeoutMs: number };
}

/** A refusal of git, with what it printed. */
export class GitError extends TeamError {
  /** What git printed to its error output. */
  readonly complaint: string;
  /** Whether a signal ended it. Then it had no time to remove its locks. */
  readonly isKilled: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    { complaint, errno, isKilled = false }: { complaint: string; errno?: string | undefined; isKilled?: boolean },
  ) {
    super(code, message, errno === undefined ? {} : { facts: { errno } });
    this.name = 'GitError';
    this.complaint = complaint;
    this.isKilled = isKilled;
  }
}

interface Known {
  readonly sign: RegExp;
  readonly code: ErrorCode;
  readonly errno?: string;
  readonly advice: string;
}

/** What git says when something is wrong that has a name. The language is fixed (LC_ALL=C). */
const KNOWN: readonly Known[] = [
  {
    // Git says the second of files with a checksum: an index, a pack.
    sign: /No space left on device|Out of diskspace/,
    code: 'storage',
    errno: 'ENOSPC',
    advice: 'the disk is full: free some space',
  },
  { sign: /Disk quota exceeded/, code: 'storage', errno: 'EDQUOT', advice: 'your quota is used up: free some space' },
  { sign: /Input\/output error/, code: 'storage', errno: 'EIO', advice: 'the disk reported an error: check it' },
  { sign: /Read-only file system/, code: 'storage', errno: 'EROFS', advice: 'the disk is read-only' },
  { sign: /Too many open files/, code: 'storage', errno: 'EMFILE', advice: 'too many files are open: try again' },
  {
    sign: /would be overwritten by merge|would lose untracked files|not uptodate\. Cannot merge|would be (?:overwritten|removed)/,
    code: 'conflict',
    advice: 'files in the folder are in the way: save or move them',
  },
  {
    sign: /\.lock': File exists|cannot lock ref|reference already exists|is at [0-9a-f]+ but expected/,
    code: 'conflict',
    advice: 'another change was first: try again',
  },
  {
    sign: /is corrupt|corrupt |inflate: |unable to read (?:tree|sha1|[0-9a-f]{40})|unable to unpack|does not match index|bad (?:object|tree|signature|index)|index file|missing (?:blob|tree|commit)|invalid object|hash mismatch|Could not read [0-9a-f]{40}|object file .* is empty|unexpected end of file|bogus/,
    code: 'corrupt',
    advice: 'data of the depot is damaged or missing: run troupe stop, then troupe up, which repairs what can be read',
  },
  {
    sign: /not a git repository/,
    code: 'corrupt',
    advice: 'the depot is gone: it is made again when it is next needed',
  },
  {
    sign: /unknown revision|Not a valid object name|not a valid (?:object|SHA1)|ambiguous argument|couldn't find remote ref/i,
    code: 'not_found',
    advice: 'there is no such commit in the depot',
  },
  {
    sign: /dubious ownership/,
    code: 'not_allowed',
    advice: 'the folder belongs to another user: add it to safe.directory in your git settings',
  },
  { sign: /Permission denied/, code: 'storage', errno: 'EACCES', advice: 'the files belong to somebody else' },
];

/** Turns the end of a command into an error that says what to do. */
export function explainFailure({ args, how, err, dir, limits }: Failure): GitError {
  const name = `git ${args[0]}`;
  const isKilled = typeof how === 'string';
  if (how === 'timeout') {
    const seconds = Math.round(limits.timeoutMs / 1000);
    const message = `${name} in ${dir} did not end within ${seconds} s and was stopped: try again when the machine is less busy`;
    return new GitError('storage', message, { complaint: err, isKilled });
  }
  if (how === 'output') {
    const message = `${name} printed more than ${limits.maxBytes} bytes and was stopped: ask for less`;
    return new GitError('limit', message, { complaint: err, isKilled });
  }
  const known = KNOWN.find(({ sign }) => sign.test(err));
  const said = firstLines(err) || `it ended with ${how}`;
  const { code = 'storage', errno, advice } = known ?? {};
  const message = `${name} failed in ${dir}: ${advice === undefined ? said : `${advice} (${said})`}`;
  return new GitError(code, message, { complaint: err, isKilled, errno });
}

/** Why git could not be started at all. */
export function gitMissing(program: string, cwd: string, error: NodeJS.ErrnoException): TeamError {
  const options = { cause: error, facts: { errno: String(error.code) } };
  // The system says the same of a missing program and of a missing folder.
  if (error.code === 'ENOENT' && !existsSync(cwd)) {
    return new TeamError('storage', `Cannot start ${program} in ${cwd}: the folder is gone`, options);
  }
  if (error.code !== 'ENOENT') return new TeamError('storage', `Cannot start ${program}: ${error.message}`, options);
  const message = `Cannot start ${program} in ${cwd}: install git, or set workspaces: shared`;
  return new TeamError('unsupported', message, options);
}

/** What git said first; the rest is mostly hints for people at a prompt. */
function firstLines(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('hint:'));
  return lines.slice(0, 3).join('; ').slice(0, 500);
}
