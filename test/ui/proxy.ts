import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';

/** A way from a browser to the daemon that can be cut, as a cable can. */
export interface Proxy {
  readonly server: string;
  /** Drops every connection, and every new one until it is mended. */
  cut(): void;
  mend(): void;
}

/** Opens a proxy for one test; browsers ask it for pages and tunnel WebSockets through it. */
export async function openProxy(): Promise<Proxy> {
  const open = new Set<Duplex>();
  let isCut = false;
  const hold = (socket: Duplex): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
    if (isCut) socket.destroy();
  };
  const server = createServer((incoming, outgoing) => {
    const onward = request(
      incoming.url ?? '',
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.on('connection', (socket: Socket) => hold(socket));
  server.on('connect', (incoming, socket: Duplex) => {
    const [host = '', port = ''] = (incoming.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    hold(onward);
    onward.on('error', () => socket.destroy());
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server: `http://127.0.0.1:${port}`, cut, mend: () => void (isCut = false) };
}
