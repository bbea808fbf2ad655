import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { freePorts } from '../../nats/server.ts';
import { SimulatedNats } from './servers.ts';
import type { ServersOptions } from './servers.ts';

/** The model, in this process, for clients that connect over the loopback and with the real time. */
export async function serveModel(options: ServersOptions = {}) {
  const ports = await freePorts(options.size ?? 1);
  const model = new SimulatedNats(
    {
      now: () => performance.now(),
      // The model counts from a moment that it read before: on a busy machine that is past.
      plan: (ms, work) => void setTimeout(work, Math.max(0, ms)).unref(),
      random: Math.random,
    },
    { ...options, ports },
  );
  const servers = model.nodes.map((node) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.setNoDelay(true));
      const client = model.connect(node, { send: (bytes) => void socket.write(bytes), end: () => socket.destroy() });
      socket
        .on('data', (bytes) => client.receive(bytes))
        .on('close', () => client.close())
        .on('error', () => {});
      if (!node.isUp) socket.destroy();
    });
    return { server, sockets, port: node.port };
  });
  await Promise.all(servers.map(({ server, port }) => listen(server, port)));
  return {
    model,
    url: `nats://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    async stop() {
      for (const { server, sockets } of servers) {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

function listen(server: Server, port: number): Promise<AddressInfo> {
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server.address() as AddressInfo)));
}
