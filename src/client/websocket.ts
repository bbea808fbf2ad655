import { CallError } from './client.ts';
import type { Connect, Connection } from './client.ts';

/** Where the daemon's WebSocket is. A browser shows its cookie; other programs give the credential. */
export interface WebSocketOptions {
  readonly url: string;
  readonly token?: string | (() => Promise<string>);
  /**
   * Interval of the heartbeat. The client pings the daemon, and gives the connection up if nothing came since the last
   * ping. After a machine slept or a network vanished, a dead connection looks open otherwise. This is also the timeout
   * for opening a connection.
   */
  readonly pulseMs?: number;
}

const PING = JSON.stringify({ type: 'ping' });

/** Connects over a WebSocket, in a browser or in Node. */
export function webSocketConnect(options: WebSocketOptions): Connect {
  return async ({ receive, closed }) => {
    const token = typeof options.token === 'function' ? await options.token() : options.token;
    return new Promise<Connection>((resolve, reject) => {
      // Only Node's WebSocket takes headers. In a browser there is no token, so the second argument is undefined.
      const headers = token === undefined ? undefined : ({ headers: { authorization: `Bearer ${token}` } } as never);
      const socket = new WebSocket(options.url, headers);
      let state: 'new' | 'open' | 'over' = 'new';
      let isHeard = true;
      let pulse: ReturnType<typeof setInterval> | undefined;
      const giveUp = (reason: string): void => {
        // Don't wait for the other side's closing handshake: it may never come.
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
        else giveUp('the daemon stopped responding');
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
