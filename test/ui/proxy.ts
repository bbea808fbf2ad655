import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';

/** A proxy between a browser and the daemon, which can be cut like a cable. */
export interface Proxy {
  readonly server: string;
  /** Drops every connection, and every new one until `mend`. */
  cut(): void;
  mend(): void;
  /** From now on, each new tunnel passes so many bytes and then nothing, until `release`. */
  hold(bytes: number): void;
  release(): void;
  /** Open tunnels pass nothing any more but stay open, as after a sleep. New ones work. */
  freeze(): void;
  /** New requests and tunnels are accepted but never answered, until `mend`. */
  stall(): void;
  /** How many were accepted and not answered. */
  readonly stalled: number;
  /** Drops requests for matching addresses, so many times each (a browser may ask twice) or until `mend`. */
  lose(address: RegExp, times?: number): void;
  /** How many addresses matched. */
  readonly lost: number;
}

/** Opens a proxy for one test; browsers ask it for pages and tunnel WebSockets through it. */
export async function openProxy(): Promise<Proxy> {
  const open = new Set<Duplex>();
  const tunnels = new Set<() => void>();
  let isCut = false;
  let isStalling = false;
  let stalled = 0;
  let bytes = Infinity;
  const held: (() => void)[] = [];
  let isReleased = false;
  let losing: { readonly address: RegExp; readonly times: number } | undefined;
  const lost = new Map<string, number>();
  const isLost = (url: string): boolean => {
    if (!losing?.address.test(url)) return false;
    const times = lost.get(url) ?? 0;
    lost.set(url, times + 1);
    return times < losing.times;
  };
  const whenReleased = (goOn: () => void): void => {
    if (isReleased) goOn();
    else held.push(goOn);
  };
  const hold = (socket: Duplex): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
    if (isCut) socket.destroy();
  };
  const server = createServer((incoming, outgoing) => {
    if (isStalling) return void stalled++;
    if (isLost(incoming.url ?? '')) return void incoming.destroy();
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
    if (isStalling) return void stalled++;
    const [host = '', port = ''] = (incoming.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      socket.pipe(onward);
      (bytes === Infinity ? onward : onward.pipe(holding(bytes, whenReleased))).pipe(socket);
    });
    hold(onward);
    onward.on('error', () => isFrozen || socket.destroy());
    onward.once('close', () => isFrozen || socket.destroy());
    socket.once('close', () => onward.destroy());
    let isFrozen = false;
    tunnels.add(() => {
      isFrozen = true;
      socket.unpipe().pause();
      onward.unpipe().pause();
    });
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
  return {
    server: `http://127.0.0.1:${port}`,
    cut,
    mend() {
      isCut = isStalling = false;
      losing = undefined;
    },
    hold: (most) => void (bytes = most),
    release() {
      isReleased = true;
      for (const goOn of held.splice(0)) goOn();
    },
    freeze() {
      for (const stop of tunnels) stop();
      tunnels.clear();
    },
    stall: () => void (isStalling = true),
    lose: (address, times = Infinity) => void (losing = { address, times }),
    get lost() {
      return lost.size;
    },
    get stalled() {
      return stalled;
    },
  };
}

/** Passes so many bytes, and the rest after the release. */
function holding(bytes: number, whenReleased: (goOn: () => void) => void): Transform {
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const first = chunk.subarray(0, left);
      const rest = chunk.subarray(first.length);
      left -= first.length;
      if (first.length > 0) this.push(first);
      if (rest.length === 0) done();
      else whenReleased(() => done(null, rest));
    },
  });
}
