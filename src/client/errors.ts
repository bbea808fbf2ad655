import type { ErrorCode, ErrorFacts } from '../core/errors.ts';

/** A refusal by the daemon, or the error that no daemon is reachable. */
export class CallError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts | undefined;

  constructor(code: ErrorCode, message: string, facts?: ErrorFacts) {
    super(message);
    this.name = 'CallError';
    this.code = code;
    this.facts = facts;
  }
}

/** The error code of the operating system, as error facts. */
export function errnoOf(error: unknown): ErrorFacts | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? { errno: code } : undefined;
}

/** The error for a caller that cancelled its call. */
export function abortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('The call was cancelled', 'AbortError');
}
