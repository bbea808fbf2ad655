import type { ErrorCode, ErrorFacts } from '../core/errors.ts';

/** A refusal by the daemon, or the news that there is none. */
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

/** The facts of an error of the operating system. */
export function errnoOf(error: unknown): ErrorFacts | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? { errno: code } : undefined;
}

/** What a caller is told that gave up. */
export function abortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('The call was cancelled', 'AbortError');
}
