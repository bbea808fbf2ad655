import { splitLines } from '../core/lines.ts';
import type { ErrorFrame, RequestFrame } from '../operations/frames.ts';
import { CallError, errnoOf } from './errors.ts';

// `import` of a builtin fetches all its exports; this does not.
const { createConnection } = process.getBuiltinModule('node:net');

/** A connection for one call. */
export interface OneCall {
  /** Sends one request. Resolves with the result, or rejects with a `CallError`. */
  call(frame: Omit<RequestFrame, 'id'>): Promise<unknown>;
  /** Closes the connection, also when nothing was asked. */
  close(): void;
}

/** Optional callbacks. */
interface Listeners {
  /** Called with remarks about the answer. */
  readonly onNotice?: (message: string) => void;
  /** Called with the cursor of the rest when a list is incomplete. */
  readonly onMore?: (after: string | number) => void;
}

/** How long the daemon may send nothing. After that, the caller retries with a `Client`, which finds the cause. */
const SILENCE_MS = 5_000;

const READ_BYTES = 64 * 1024;

/**
 * The fastest way to one answer, for a program that exits after it. It connects and sends its credential at once, and
 * reads past Node's streams, which take 1 ms to set up. Any failure is a `no_daemon` error without a retry. The caller
 * can retry with a `Client`; under the same command id the call runs once.
 */
export function connectOnce(path: string, token: string, { onNotice, onMore }: Listeners = {}): OneCall {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  // A connection on which nothing is asked may fail silently.
  promise.catch(() => {});
  const lines = splitLines((line) => {
    const answer = JSON.parse(line) as Answer;
    if (answer.error) reject(new CallError(answer.error.code, answer.error.message, answer.error.facts));
    else if (answer.type === 'result' && answer.id === 1) {
      if (answer.after !== undefined) onMore?.(answer.after);
      resolve(answer.result);
    } else if (answer.type === 'notice') onNotice?.(answer.message ?? '');
  });
  const callback = (size: number, buffer: Uint8Array): boolean => {
    clearTimeout(silence);
    lines.push(Buffer.from(buffer.buffer, buffer.byteOffset, size));
    return true;
  };
  const socket = createConnection({ path, onread: { buffer: Buffer.allocUnsafe(READ_BYTES), callback } });
  const silence = setTimeout(() => {
    reject(new CallError('no_daemon', 'The daemon does not answer: see troupe doctor'));
    socket.destroy();
  }, SILENCE_MS).unref();
  socket.once('error', (error) => reject(new CallError('no_daemon', error.message, errnoOf(error))));
  socket.once('close', () => reject(new CallError('no_daemon', 'The daemon closed the connection')));
  socket.write(`${JSON.stringify({ type: 'hello', id: 0, token })}\n`);
  return {
    call(frame) {
      socket.write(`${JSON.stringify({ ...frame, id: 1 })}\n`);
      return promise;
    },
    close: () => socket.destroy(),
  };
}

interface Answer {
  readonly type: string;
  readonly id?: number;
  readonly result?: unknown;
  readonly after?: string | number;
  readonly message?: string;
  readonly error?: ErrorFrame['error'];
}
