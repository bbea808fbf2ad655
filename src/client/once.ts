import type { RequestFrame } from '../operations/frames.ts';
import { CallError } from './errors.ts';

// `import` of a builtin fetches all its exports; this does not.
const { createConnection } = process.getBuiltinModule('node:net');

/** Shows a credential and asks for one thing; answers with the result, or rejects with a `CallError`. */
export type CallOnce = (frame: Omit<RequestFrame, 'id'>) => Promise<unknown>;

/**
 * The shortest way to one answer, for a program that ends with it: it connects at once, and sends credential and call
 * together. What goes wrong on the way is told as `no_daemon` and not tried again; that is what a `Client` is for, and
 * with the same command id the call is done once.
 */
export function connectOnce(path: string, token: string): CallOnce {
  const socket = createConnection(path);
  socket.setEncoding('utf8');
  socket.write(`${JSON.stringify({ type: 'hello', id: 0, token })}\n`);
  const failed = new Promise<never>((_, reject) => {
    const fail = (error?: Error): void => {
      reject(new CallError('no_daemon', error ? error.message : 'The daemon closed the connection'));
    };
    socket.once('error', fail).once('close', () => fail());
  });
  // Without a call, nobody asks how the connection fared.
  failed.catch(() => {});
  return (frame) => {
    socket.write(`${JSON.stringify({ ...frame, id: 1 })}\n`);
    const answered = new Promise<unknown>((resolve, reject) => {
      let rest = '';
      socket.on('data', (chunk: string) => {
        rest += chunk;
        for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
          const answer = JSON.parse(rest.slice(0, end)) as Answer;
          rest = rest.slice(end + 1);
          if (answer.error) reject(new CallError(answer.error.code, answer.error.message));
          else if (answer.type === 'result' && answer.id === 1) resolve(answer.result);
        }
      });
    });
    return Promise.race([answered, failed]);
  };
}

interface Answer {
  readonly type: string;
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly code: CallError['code']; readonly message: string };
}
