import type { ErrorCode } from '../core/errors.ts';

/** A refusal by the daemon, or the news that there is none. */
export class CallError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'CallError';
    this.code = code;
  }
}
