import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { textFrames } from '../operations/text-frames.ts';
import type { Enter, Entered } from './context.ts';
import type { Admitted, Guard, Refusal } from './guard.ts';
import { refusal } from './guard.ts';
import { retryHeader, SECURITY_HEADERS } from './headers.ts';
import type { Hub } from './hub.ts';
import type { Line } from './line.ts';
import type { Taken } from './outbox.ts';
import { rateLimit } from './rate.ts';
import { openSession } from './session.ts';
import type { Session } from './session.ts';
import { TOO_MANY_OF_ONE } from './share.ts';

const PIECE_BYTES = 256 * 1024;

/** How long a client that reads may take to answer our close frame. */
const FAREWELL_MS = 5_000;

/** The connections, which WebSockets share with the rest of HTTP. */
export interface Connections {
  /** The connection has shown a valid credential. */
  readonly enter: Enter;
  /** The client was cut off: any new connection may take its place. */
  cut(socket: Socket): void;
}

/** Serves WebSockets at `/ws`. Refusals are sent as HTTP, before the upgrade. */
export function openWebSockets(hub: Hub, guard: Guard, connections: Connections) {
  const { limits, lingering } = hub;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    maxPayload: limits.messageBytes,
    maxFragments: limits.fragments,
    perMessageDeflate: false,
    autoPong: false,
  });
  // The library knows this option, its types do not yet. Clients that were not cut off have less time: see
  // `giveUpSoon`.
  Object.assign(server.options, { closeTimeout: limits.lingerMs });
  // Without this the library answers in its own words.
  server.on('wsClientError', (error, socket) => refuse(socket, refusal('invalid', error.message)));
  const alive = new WeakSet<WebSocket>();
  const sessions = new WeakMap<WebSocket, { readonly session: Session; readonly carrier: Duplex }>();
  const beat = setInterval(() => {
    for (const socket of server.clients) {
      const { session, carrier } = sessions.get(socket) ?? {};
      if (carrier && lingering.has(carrier)) continue;
      // A client whose connection is paused cannot show that it is alive.
      if (!alive.delete(socket) && !socket.isPaused) {
        if (socket.readyState === socket.OPEN) session?.cutOff();
        else socket.terminate();
      } else if (socket.readyState === socket.OPEN) socket.ping();
    }
  }, limits.keepAliveMs);
  beat.unref();

  return {
    /** An `upgrade` of the HTTP server. */
    async upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
      // A client that disconnects in the middle of an upgrade is not worth a report.
      socket.on('error', () => {});
      const admitted = await admit(request);
      if (socket.destroyed) return;
      if ('status' in admitted) return refuse(socket, admitted);
      const place = connections.enter(socket, admitted);
      if ('status' in place) return refuse(socket, place);
      socket.once('close', place.leave);
      if (!place.share.stay()) return refuse(socket, refusal('limit', TOO_MANY_OF_ONE));
      const onCut = (): void => {
        place.leave();
        connections.cut(socket);
        lingering.keep(socket);
      };
      const entered = { ...admitted, share: place.share };
      server.handleUpgrade(request, socket, head, (webSocket) => serve(webSocket, socket, { entered, onCut }));
    },

    close(): void {
      clearInterval(beat);
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };

  async function admit(request: IncomingMessage): Promise<Admitted | Refusal> {
    const stranger = guard.checkAddress(request);
    if (stranger) return stranger;
    // A browser sends the cookie for any page, so the page's origin must be known and must be ours.
    const isByCookie = request.headers.authorization === undefined;
    if (isByCookie && request.headers.origin === undefined) return guard.failed(request);
    const admitted = await guard.admit(request);
    if ('status' in admitted) return admitted;
    if (request.url !== '/ws') return refusal('not_found', 'WebSockets are at /ws');
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
    return isWebSocket ? admitted : refusal('invalid', 'Only WebSocket is supported here');
  }

  function serve(
    socket: WebSocket,
    carrier: Duplex,
    { entered, onCut }: { entered: Entered; onCut: () => void },
  ): void {
    const session = openSession(hub, entered, lineOn(socket, carrier, onCut));
    const asides = rateLimit(limits.asidesPerSecond, limits.asideBurst);
    let isFlooded = false;
    sessions.set(socket, { session, carrier });
    alive.add(socket);
    socket.on('pong', () => void (isTooMuch() || alive.add(socket)));
    socket.on('ping', (data) => {
      if (isTooMuch()) return;
      alive.add(socket);
      if (lingering.has(carrier)) return;
      // Pongs bypass the outbox. A client that sends pings and reads nothing must not fill the memory with them.
      if (carrier.writableLength > limits.queueBytes) socket.terminate();
      else socket.pong(data);
    });
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      // The client still sends after our close frame.
      if (socket.readyState !== socket.OPEN) return void isTooMuch();
      alive.add(socket);
      if (isBinary) {
        socket.close(1003, 'frames are text');
        giveUpSoon(socket);
      } else session.receive(data.toString('utf8'));
    });
    socket.on('close', () => session.gone());
    // For a paused connection `ws` does not report the end.
    carrier.once('close', () => session.gone());
    // The close code tells the client what it did wrong.
    socket.on('error', () => giveUpSoon(socket));

    /**
     * Counts a frame that is not a call and so is not counted by the share. One turn of the event loop could hold
     * 300,000 of them. After too many, nothing more is read from the client.
     */
    function isTooMuch(): boolean {
      if (!isFlooded && asides.take('')) return false;
      // Each time, because closing resumes reading for the client's answer.
      socket.pause();
      if (isFlooded) return true;
      isFlooded = true;
      void session.end({ code: 1008, reason: 'too many control frames' });
      giveUpSoon(socket);
      return true;
    }
  }
}

/** Terminates a connection whose client does not answer our close frame. */
function giveUpSoon(socket: WebSocket): void {
  setTimeout(() => socket.terminate(), FAREWELL_MS).unref();
}

/** Answers an upgrade with HTTP, since there is no WebSocket yet. */
export function refuse(socket: Duplex, why: Refusal): void {
  const { status, code, message } = why;
  const body = JSON.stringify({ error: { code, message } });
  const headers = {
    ...SECURITY_HEADERS,
    ...retryHeader(why),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(
    `HTTP/1.1 ${status} ${process.getBuiltinModule('node:http').STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
}

function lineOn(socket: WebSocket, carrier: Duplex, onCut: () => void): Line {
  return {
    write(frames, moved, done) {
      // One write for all frames: `ws` would make two of each.
      if (socket.readyState === socket.OPEN && frames.reduce((sum, frame) => sum + frame.length, 0) <= PIECE_BYTES) {
        return void carrier.write(textFrames(frames, { masked: false }), done);
      }
      carrier.cork();
      frames.forEach((frame, at) => send(frame, moved, at === frames.length - 1 ? done : moved));
      carrier.uncork();
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close({ code, reason }) {
      socket.close(code, reason);
      // Without this the client's answer would never be read.
      socket.resume();
      giveUpSoon(socket);
    },
    cut({ code, reason }, lastFrame) {
      socket.send(lastFrame, () => {});
      socket.close(code, reason);
      socket.resume();
      onCut();
    },
  };

  /** A long message goes in pieces, so that we see a slow client read. */
  function send(frame: string, moved: Taken, sent: Taken): void {
    if (frame.length <= PIECE_BYTES) return socket.send(frame, sent);
    const bytes = Buffer.from(frame);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const fin = at + PIECE_BYTES >= bytes.length;
      socket.send(bytes.subarray(at, at + PIECE_BYTES), { fin, binary: false }, fin ? sent : moved);
    }
  }
}
