import { resolve } from 'node:path';
import { Client } from './client.ts';
import type { ClientOptions } from './client.ts';
import { homeAt } from './home.ts';
import type { Home } from './home.ts';
import { nodeWebSocketConnect } from './node-websocket.ts';
import { socketConnect } from './socket.ts';

/** Where a daemon is: its state directory on this machine, or its address and a token. */
export type DaemonPlace = { readonly home: string | Home } | { readonly url: string; readonly token: string };

/** A client of a running daemon. It connects with its first call, and again whenever the connection is lost. */
export function connect(place: DaemonPlace, options: ClientOptions = {}): Client {
  if ('home' in place) {
    const home = typeof place.home === 'string' ? homeAt(resolve(place.home)) : place.home;
    return new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }), options);
  }
  const url = new URL('/ws', place.url);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return new Client(nodeWebSocketConnect({ url: url.href, token: place.token }), options);
}
