import { CallError } from '../../client/errors.ts';
import type { RequestFrame } from '../../operations/frames.ts';
import type { InputOf, OperationName } from '../../operations/index.ts';
import { interruption } from './interruption.ts';

/** Is told from where a list goes on that was not handed out whole. */
export type OnMore = (after: string | number) => void;

/** An id that no other call has. Not from `crypto`: to load that takes 5 ms, and nobody gains by guessing it. */
export function newCommandId(): string {
  const random = Math.random().toString(36).slice(2, 12);
  return `cli-${Date.now().toString(36)}-${process.pid.toString(36)}-${random}`;
}

/** No daemon, a connection lost, a token that was replaced while we read it: what a client knows how to get over. */
export function orPatiently(frame: RequestFrame, onMore: OnMore): (error: unknown) => Promise<unknown> {
  return (error) => {
    const isOver = error instanceof CallError && error.code !== 'no_daemon' && error.code !== 'unauthenticated';
    if (isOver) throw error;
    return callPatiently(frame, onMore);
  };
}

/** The same call, with all that may happen on the way. */
export async function callPatiently({ type, payload, as, commandId }: RequestFrame, onMore: OnMore): Promise<unknown> {
  const { openClient } = await import('../reach/connect.ts');
  return openClient(process.env).call(type as OperationName, payload as InputOf<OperationName>, {
    signal: interruption(),
    onMore,
    ...(as !== undefined && { as }),
    ...(commandId !== undefined && { commandId }),
  });
}
