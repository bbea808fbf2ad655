import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { constants } from 'node:os';
import { proxyVariables } from './proxy-variables.ts';

/**
 * The first program in a sandbox. A sandbox has a network of its own, with nothing but loopback. So this program listens
 * there and forwards: some ports to the same ports of the machine, and one port to the proxy, all through a socket in
 * the file system. Then it runs the real program, and ends with its exit code.
 *
 * It imports almost nothing: it has to be up before every turn of a program.
 */
interface Orders {
  /** The socket of the proxy. */
  readonly socket: string;
  /** Ports of loopback that are forwarded. */
  readonly ports: readonly number[];
  /** Whether other hosts may be reached, through the proxy. */
  readonly hosts: boolean;
  /** The port on which the program serves, and the socket at which connections to it are offered. */
  readonly serves?: { readonly port: number; readonly door: string };
}

const [, , orders = '{}', program = '', ...args] = process.argv;
const { socket, ports, hosts, serves } = JSON.parse(orders) as Orders;

// A signal to the group reaches the program itself. Its end is ours.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const sockets = new Set<Socket>();
await Promise.all(ports.map((port) => listen(port, (guest) => tunnel(guest, port))));
const proxy = hosts ? await listen(0, (guest) => join(guest, keep(connect(socket)))) : undefined;
const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...proxyVariables(proxy) } });
child.once('error', (error) => {
  writeSync(2, `Cannot run ${program} in its sandbox: ${error.message}\n`);
  end(127);
});
if (serves) offer(serves);
child.once('exit', (code, signal) => end(code ?? 128 + (signal ? constants.signals[signal] : 0)));

/** Ends with this code, as soon as nothing is open any more. */
function end(code: number): void {
  process.exitCode = code;
  for (const one of sockets) one.destroy();
}

function keep(one: Socket): Socket {
  if (process.exitCode !== undefined) return one.destroy();
  sockets.add(one);
  one.once('close', () => sockets.delete(one));
  return one;
}

/** Listens on loopback; returns the port. A port that cannot be had is left out: others still work. */
function listen(port: number, onGuest: (guest: Socket) => void): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer({ allowHalfOpen: true }, (guest) => onGuest(keep(guest)));
    server.once('error', () => resolve(port));
    server.listen(port, '127.0.0.1', () => resolve((server.unref().address() as AddressInfo).port));
  });
}

/** Connects a guest with the same port outside: the proxy is asked as by any of its clients. */
function tunnel(guest: Socket, port: number): void {
  const way = keep(connect({ path: socket, allowHalfOpen: true }));
  let head = Buffer.alloc(0);
  guest.on('error', () => way.destroy());
  way.on('error', () => guest.destroy());
  way.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    way.off('data', onHead);
    way.pause();
    if (!head.toString('latin1', 0, 12).endsWith(' 200')) {
      guest.destroy();
      way.destroy();
      return;
    }
    way.unshift(head.subarray(end + 4));
    join(guest, way);
  };
  way.on('data', onHead);
  way.once('close', () => guest.destroySoon());
}

/**
 * Nobody can connect into a sandbox. So a connection to the program is offered from here, always one that waits; with its
 * first bytes it is used, and the next one is offered.
 */
function offer(at: NonNullable<Orders['serves']>): void {
  const way = keep(connect(at.door));
  way.on('error', () => way.destroy());
  way.write(`${at.port}\n`);
  const again = (): void => offer(at);
  // It was taken, but not used.
  way.once('end', again);
  way.once('data', (first: Buffer) => {
    way.pause();
    way.off('end', again);
    again();
    const host = keep(connect(at.port, '127.0.0.1'));
    host.write(first);
    join(way, host);
  });
}

function join(one: Socket, other: Socket): void {
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  one.pipe(other);
  other.pipe(one);
}
