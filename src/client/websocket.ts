import { CallError } from './client.ts';
import type { Connect, Connection } from './client.ts';

/** Where the daemon's WebSocket is. A browser shows its cookie; other programs give the credential. */
export interface WebSocketOptions {
  readonly url: string;
  readonly token?: string | (() => Promise<string>);
}

/** Connects over a WebSocket, in a browser and in Node alike. */
export function webSocketConnect(options: WebSocketOptions): Connect {
  return async ({ receive, closed }) => {
    const token = typeof options.token === 'function' ? await options.token() : options.token;
    return new Promise<Connection>((resolve, reject) => {
      // Only Node's WebSocket takes headers; a browser ignores the second argument's shape by not getting one.
      const headers = token === undefined ? undefined : ({ headers: { authorization: `Bearer ${token}` } } as never);
      const socket = new WebSocket(options.url, headers);
      let ready = false;
      socket.addEventListener('open', () => {
        ready = true;
        resolve({ send: (text) => socket.send(text), close: () => socket.close() });
      });
      socket.addEventListener('message', ({ data }) => receive(data as string));
      socket.addEventListener('close', ({ reason }) => {
        if (ready) closed(reason);
        else reject(new CallError('no_daemon', `No daemon answers on ${options.url}`));
      });
      socket.addEventListener('error', () => reject(new CallError('no_daemon', `No daemon answers on ${options.url}`)));
    });
  };
}
