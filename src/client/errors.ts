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

/** What a caller is told that gave up. */
export function abortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('The call was cancelled', 'AbortError');
}
