import type { Socket } from 'node:net';

/** Forwards all data between two connections. When one ends, the other ends too. */
export function passOn(client: Socket, upstream: Socket): void {
  for (const one of [client, upstream]) {
    one.on('error', () => {});
    one.on('close', () => {
      client.destroy();
      upstream.destroy();
    });
  }
  client.pipe(upstream).pipe(client);
}
