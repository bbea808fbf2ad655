import { lookup } from 'node:dns';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlockList, connect, createServer as createSocketServer, isIP } from 'node:net';
import type { AddressInfo, LookupFunction, Server, Socket } from 'node:net';
import { readHost, ruleFor } from '../../core/sandbox.ts';
import type { HostRule } from '../../core/sandbox.ts';

/** A listener that ends with its sandbox. */
export interface Listener {
  /** Its port; 0 for a socket in the file system. */
  readonly port: number;
  close(): Promise<void>;
}

/** This machine, and addresses that only mean something beside it, such as a cloud's metadata. Only an exact rule opens them. */
const NEAR = new BlockList();
NEAR.addSubnet('127.0.0.0', 8);
NEAR.addSubnet('0.0.0.0', 8);
NEAR.addSubnet('169.254.0.0', 16);
NEAR.addAddress('::1', 'ipv6');
NEAR.addAddress('::', 'ipv6');
NEAR.addSubnet('fe80::', 10, 'ipv6');

/** The networks of houses and companies. `*` does not open them: it means the internet. */
const LOCAL = new BlockList();
LOCAL.addSubnet('10.0.0.0', 8);
LOCAL.addSubnet('172.16.0.0', 12);
LOCAL.addSubnet('192.168.0.0', 16);
LOCAL.addSubnet('100.64.0.0', 10);
LOCAL.addSubnet('fc00::', 7, 'ipv6');

/**
 * Listens as an HTTP proxy, on a socket of the file system or on a free port: the only way out of a sandbox. It connects to hosts that the
 * list names, and looks at the address, too: a foreign name may lead to this machine.
 */
export async function openProxy(path: string | undefined, allowed: () => readonly string[]): Promise<Listener> {
  const rulesNow = (): HostRule[] => allowed().flatMap((entry) => readHost(entry) ?? []);
  const server = createServer((asked, answer) => forward(asked, answer, rulesNow()));
  server.on('connect', (asked: IncomingMessage, guest: Socket, head: Buffer) => {
    guest.on('error', () => guest.destroy());
    const target = targetOf(`http://${asked.url}`, 443);
    const rule = target && allow(rulesNow(), target);
    if (!target || !rule) {
      guest.end(`HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n${refusal(asked.url ?? '')}`);
      return;
    }
    const way = connect({ ...target, lookup: lookUpFor(rule), autoSelectFamily: true, allowHalfOpen: true });
    way.once('connect', () => {
      guest.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) way.write(head);
      way.pipe(guest);
      guest.pipe(way);
    });
    way.once('error', (error) => {
      if (way.connecting || way.bytesRead === 0) guest.end(`HTTP/1.1 502 Bad Gateway\r\n\r\n${error.message}\n`);
      else guest.destroy();
    });
    guest.once('close', () => way.destroy());
    way.once('close', () => guest.destroySoon());
  });
  // A program may keep a connection as long as it runs.
  server.requestTimeout = 0;
  return listen(server, path);
}

/** Listens on a socket of the file system and forwards each connection to another: that of the daemon, also the next one. */
export function openForward(path: string, to: string): Promise<Listener> {
  const server = createSocketServer({ allowHalfOpen: true }, (guest) => {
    const way = connect({ path: to, allowHalfOpen: true });
    guest.on('error', () => way.destroy());
    way.on('error', () => guest.destroy());
    guest.once('close', () => way.destroy());
    way.once('close', () => guest.destroySoon());
    guest.pipe(way);
    way.pipe(guest);
  });
  return listen(server, path);
}

/** Where programs in a sandbox offer connections to the ports on which they serve. */
export interface Door extends Listener {
  readonly reach: (port: number, signal: AbortSignal) => Promise<Socket>;
}

/** An offer names its port in a line; a longer one is none. Bytes. */
const OFFER_BYTES = 6;

/** A program may offer as much as it likes; so many wait for each port. */
const OFFERS = 4;

/** Listens on a socket of the file system for such offers. */
export async function openDoor(path: string): Promise<Door> {
  const offers = new Map<number, Socket[]>();
  const waiting = new Map<number, ((offer: Socket) => void)[]>();
  const server = createSocketServer((guest) => {
    guest.on('error', () => guest.destroy());
    guest.once('data', (line: Buffer) => {
      const port = line.length <= OFFER_BYTES ? Number(line.toString()) : Number.NaN;
      const take = waiting.get(port)?.shift();
      if (take) {
        take(guest);
        return;
      }
      const kept = (offers.get(port) ?? []).filter((one) => !one.destroyed);
      if (!Number.isInteger(port) || kept.length >= OFFERS) guest.destroy();
      else offers.set(port, [...kept, guest]);
    });
  });
  const listener = await listen(server, path);
  return {
    ...listener,
    reach(port, signal) {
      for (let offer = offers.get(port)?.shift(); offer; offer = offers.get(port)?.shift()) {
        if (!offer.destroyed) return Promise.resolve(offer);
      }
      return new Promise((resolve, reject) => {
        const take = (offer: Socket): void => resolve(offer);
        waiting.set(port, [...(waiting.get(port) ?? []), take]);
        signal.addEventListener('abort', () => {
          waiting.set(
            port,
            (waiting.get(port) ?? []).filter((one) => one !== take),
          );
          reject(new Error(`Nothing in the sandbox serves port ${port}`));
        });
      });
    },
  };
}

/** A plain request, with a whole address. */
function forward(asked: IncomingMessage, answer: ServerResponse, rules: readonly HostRule[]): void {
  const target = targetOf(asked.url ?? '', 80);
  const rule = target && allow(rules, target);
  if (!target || !rule || !asked.url?.startsWith('http://')) {
    answer.writeHead(403, { connection: 'close' }).end(refusal(asked.url ?? ''));
    return;
  }
  const url = new URL(asked.url);
  const { 'proxy-connection': _one, 'proxy-authorization': _other, ...headers } = asked.headers;
  const { method } = asked;
  const path = `${url.pathname}${url.search}`;
  const way = request({ ...target, method, path, headers, lookup: lookUpFor(rule), agent: false }, (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers);
    got.pipe(answer);
  });
  way.once('error', (error) => {
    if (answer.headersSent) answer.destroy();
    else answer.writeHead(502).end(`${error.message}\n`);
  });
  answer.once('close', () => way.destroy());
  asked.pipe(way);
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** The rule that opens a target. An address is looked at here: it is never looked up. */
function allow(rules: readonly HostRule[], { host, port }: Target): HostRule | undefined {
  const rule = ruleFor(rules, host, port);
  return rule && (isIP(host) === 0 || isOpen(rule.host, host)) ? rule : undefined;
}

function targetOf(text: string, usual: number): Target | undefined {
  const url = URL.parse(text);
  if (!url || url.hostname === '') return undefined;
  // A URL leaves out the port that is usual for its scheme.
  const port = url.port === '' ? (text.endsWith(':80') ? 80 : usual) : Number(url.port);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port };
}

/** Finds the addresses of a name, without those that the rule does not open. */
function lookUpFor({ host }: HostRule): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error) {
        done(error, '');
        return;
      }
      const open = found.filter(({ address }) => isOpen(host, address));
      const [first] = open;
      if (!first) done(new Error(`${name} is an address of this machine or its network`), '');
      else if (options.all) done(null, open);
      else done(null, first.address, first.family);
    });
  };
}

function isOpen(rule: string, address: string): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (rule === 'localhost' || rule.endsWith('.localhost') || isIP(rule) !== 0) return true;
  if (NEAR.check(address, family)) return false;
  return rule !== '*' || !LOCAL.check(address, family);
}

function refusal(target: string): string {
  return `The sandbox does not let this program reach ${target}. A person can add it to sandbox.network.\n`;
}

async function listen(server: Server, path: string | undefined): Promise<Listener> {
  const guests = new Set<Socket>();
  server.on('connection', (guest) => {
    guests.add(guest);
    guest.once('close', () => guests.delete(guest));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (path === undefined) server.listen(0, '127.0.0.1', resolve);
    else server.listen(path, resolve);
  });
  server.unref();
  return {
    port: path === undefined ? (server.address() as AddressInfo).port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const guest of guests) guest.destroy();
      }),
  };
}
