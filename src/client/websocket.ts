import { CallError } from './client.ts';
import type { Connect, Connection } from './client.ts';

/** Where the daemon's WebSocket is. A browser shows its cookie; other programs give the credential. */
export interface WebSocketOptions {
  readonly url: string;
  readonly token?: string | (() => Promise<string>);
  /**
   * How often the daemon is asked for a sign of life; a connection on which none came is taken for lost. A machine that
   * slept, or a network that went without a word, leaves one that looks open for as long as nobody is told otherwise.
   * One that does not open within that time is given up as well.
   */
  readonly pulseMs?: number;
}

const PING = JSON.stringify({ type: 'ping' });

/** Connects over a WebSocket, in a browser and in Node alike. */
export function webSocketConnect(options: WebSocketOptions): Connect {
  return async ({ receive, closed }) => {
    const token = typeof options.token === 'function' ? await options.token() : options.token;
    return new Promise<Connection>((resolve, reject) => {
      // Only Node's WebSocket takes headers; a browser ignores the second argument's shape by not getting one.
      const headers = token === undefined ? undefined : ({ headers: { authorization: `Bearer ${token}` } } as never);
      const socket = new WebSocket(options.url, headers);
      let state: 'new' | 'open' | 'over' = 'new';
      let isHeard = true;
      let pulse: ReturnType<typeof setInterval> | undefined;
      const giveUp = (reason: string): void => {
        // The other side may never answer the farewell: it is not waited for.
        end(reason);
        socket.close();
      };
      const { pulseMs } = options;
      const opening =
        pulseMs === undefined ? undefined : setTimeout(() => giveUp('the daemon did not answer'), pulseMs);
      const end = (reason: string): void => {
        clearTimeout(opening);
        clearInterval(pulse);
        const before = state;
        state = 'over';
        if (before === 'open') closed(reason);
        else reject(new CallError('no_daemon', `No daemon answers on ${options.url}`));
      };
      const feelPulse = (): void => {
        if (isHeard) socket.send(PING);
        else giveUp('the daemon gave no sign of life');
        isHeard = false;
      };
      socket.addEventListener('open', () => {
        if (state === 'over') return;
        state = 'open';
        clearTimeout(opening);
        if (pulseMs !== undefined) pulse = setInterval(feelPulse, pulseMs);
        resolve({ send: (text) => socket.send(text), close: () => socket.close() });
      });
      socket.addEventListener('message', ({ data }) => {
        isHeard = true;
        if (state === 'open') receive(data as string);
      });
      socket.addEventListener('close', ({ reason }) => end(reason));
      socket.addEventListener('error', () => reject(new CallError('no_daemon', `No daemon answers on ${options.url}`)));
    });
  };
}
