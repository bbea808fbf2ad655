import { CallError } from '../../client/errors.ts';
import type { RequestFrame } from '../../operations/frames.ts';
import type { InputOf, OperationName } from '../../operations/index.ts';
import { interruption } from './interruption.ts';

/** Called with the cursor of the rest when a list is incomplete. */
export type OnMore = (after: string | number) => void;

/** A unique command id. Not from `crypto`: loading it takes 5 ms, and guessing an id gains nothing. */
export function newCommandId(): string {
  const random = Math.random().toString(36).slice(2, 12);
  return `cli-${Date.now().toString(36)}-${process.pid.toString(36)}-${random}`;
}

/** Retries with a `Client` after failures that it can handle: no daemon, a lost connection, a replaced token. */
export function orPatiently(frame: RequestFrame, onMore: OnMore): (error: unknown) => Promise<unknown> {
  return (error) => {
    const isOver = error instanceof CallError && error.code !== 'no_daemon' && error.code !== 'unauthenticated';
    if (isOver) throw error;
    return callPatiently(frame, onMore);
  };
}

/** Makes the same call with a `Client`, which starts the daemon and reconnects. */
export async function callPatiently({ type, payload, as, commandId }: RequestFrame, onMore: OnMore): Promise<unknown> {
  const { openClient } = await import('../reach/connect.ts');
  return openClient(process.env).call(type as OperationName, payload as InputOf<OperationName>, {
    signal: interruption(),
    onMore,
    ...(as !== undefined && { as }),
    ...(commandId !== undefined && { commandId }),
  });
}
