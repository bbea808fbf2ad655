import type { Socket } from 'node:net';

/** Passes everything on between two connections; when one ends, so does the other. */
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
