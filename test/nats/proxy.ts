import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A TCP proxy between a daemon and its server, which can cut the connection. */
export interface Proxy {
  readonly port: number;
  /** How many connections it refused. */
  readonly refused: number;
  /** Closes every connection and refuses new ones. */
  cut(): void;
  mend(): void;
}

/** Starts a proxy that forwards everything, and can rewrite the server's data. It ends with the test. */
export async function startProxy(target: number, rewrite: (text: string) => string = (text) => text): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let refused = 0;
  const server = createServer((client) => {
    if (isCut) {
      refused++;
      client.destroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => client.write(Buffer.from(rewrite(chunk.toString('latin1')), 'latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(async () => {
    drop();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    port: (server.address() as AddressInfo).port,
    get refused() {
      return refused;
    },
    cut() {
      isCut = true;
      drop();
    },
    mend() {
      isCut = false;
    },
  };
}
