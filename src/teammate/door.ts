import type { ErrorCode } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { InputOf, OperationName, ResultOf } from '../operations/index.ts';

/** The events of one batch. */
export interface Change {
  readonly seq: number;
  readonly events: readonly TeamEvent[];
}

/**
 * How a teammate reaches its team: directly in the daemon's own process, elsewhere over a connection. Either way every
 * call is an operation in the member's name, with JSON in and out, so that both follow the same rules.
 */
export interface Door {
  /** A repeated call with the same id is done once. */
  call<N extends OperationName>(name: N, input: InputOf<N>, options?: { commandId?: string }): Promise<ResultOf<N>>;
  /** The batches after a number, past and future; survives lost connections. */
  changes(signal: AbortSignal, after: number): AsyncIterable<Change>;
}

/** The error code, whatever class carries it. */
export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof Error && 'code' in error ? (error.code as ErrorCode) : undefined;
}
