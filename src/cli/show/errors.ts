import type { CallError } from '../../client/client.ts';
import { ERROR_CODES } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { explainMissing } from '../../core/missing-package.ts';
import { cleanLines, fold } from './text.ts';
import { toJson, warn, writeBeside } from './write.ts';

/** Exit code of an interrupted command: 128 plus the number of SIGINT. */
export const INTERRUPTED = 130;

const DELETED_FOLDER = 'The folder that you are in was deleted: cd to another';

/** A command line that cannot be parsed. */
export class UsageError extends Error {
  readonly code = 'invalid' satisfies ErrorCode;
  /** The command whose help explains the fault. */
  readonly command: string;

  constructor(message: string, command = '') {
    super(message);
    this.name = 'UsageError';
    this.command = command;
  }
}

/** An error that the command line itself found, such as a daemon that does not answer. */
export class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}

/** Prints an error to standard error and returns its exit code. */
export function reportError(error: unknown, json: boolean): number {
  if (isAbort(error)) return INTERRUPTED;
  const { code, message } = explain(error);
  if (json) writeBeside(toJson({ error: { code, message } }, undefined));
  else {
    warn(fold(`troupe: ${cleanLines(message).join('\n')}\n`, errorScreen(), 2));
    if (error instanceof UsageError) warn(`See: troupe ${`${error.command} --help`.trimStart()}\n`);
  }
  return ERROR_CODES[code].exit;
}

/** Standard error is for people, wherever the result goes. */
export function errorScreen(): { columns: number } {
  return { columns: process.stderr.isTTY ? process.stderr.columns || 80 : Infinity };
}

function explain(error: unknown): { code: ErrorCode; message: string } {
  if (!(error instanceof Error)) return { code: 'internal', message: String(error) };
  const missing = explainMissing(error);
  if (missing !== undefined) return { code: 'unsupported', message: missing };
  if (isDeletedFolder(error)) return { code: 'not_found', message: DELETED_FOLDER };
  const { code } = error as Partial<CallError>;
  if (code !== undefined && Object.hasOwn(ERROR_CODES, code)) return { code, message: error.message };
  return { code: 'internal', message: process.env['TROUPE_DEBUG'] ? (error.stack ?? error.message) : error.message };
}

/** Node cannot say what the working directory is, since it is gone. */
function isDeletedFolder(error: Error & { code?: string; syscall?: string }): boolean {
  return error.code === 'ENOENT' && error.syscall === 'uv_cwd';
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
