import type { ErrorCode } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { InputOf, OperationName, ResultOf } from '../operations/index.ts';

/** What happened to the team, one batch at a time. */
export interface Change {
  readonly seq: number;
  readonly events: readonly TeamEvent[];
}

/**
 * How a teammate reaches its team: in the daemon's own process directly, elsewhere over a connection. Either way every
 * call is an operation in the name of the member, with JSON in and out, so that both follow the same rules.
 */
export interface Door {
  /** Made again under the same id, the call is done once. */
  call<N extends OperationName>(name: N, input: InputOf<N>, options?: { commandId?: string }): Promise<ResultOf<N>>;
  /** What happened after a batch, then what happens, over lost connections too. */
  changes(signal: AbortSignal, after: number): AsyncIterable<Change>;
}

/** The code of a refusal, whatever class carries it. */
export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof Error && 'code' in error ? (error.code as ErrorCode) : undefined;
}
