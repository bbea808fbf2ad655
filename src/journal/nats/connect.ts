import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectSocket, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkServerIdentity } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import { connect, credsAuthenticator, errors, nkeyAuthenticator } from '@nats-io/transport-node';
import type { Authenticator, NatsConnection, NodeConnectionOptions, ServerInfo } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import { hostOf, showAddress } from './address.ts';
import type { NatsAddress } from './address.ts';
import { isBefore } from './durability.ts';
import type { ServerReach } from './found.ts';

/** Pull consumers send heartbeats since 2.9, and the tests run on 2.9. */
const LEAST = [2, 9] as const;

/** How long a server may take for its first answer; on a busy machine the TLS handshake took more than 5 s. */
const CONNECT_MS = 10_000;

/**
 * How often to try a server that greets but does not complete the connection. On a busy machine both sides can run out
 * of time for the TLS handshake (a server allows 2 s and then says nothing).
 */
const ATTEMPTS = 3;

/** The timeout for a TCP connection, and for a server's greeting. */
const REACH_MS = 2_500;

/** A silent server counts as lost after two of these. */
const PING_MS = 5_000;

/** Orders servers for connecting: those that answer, shuffled, then the others. Throws if none is reachable. */
export async function orderServers(address: NatsAddress, { reachMs = REACH_MS } = {}): Promise<string[]> {
  // Report mistakes in the address before any connection is tried.
  optionsFor(address);
  try {
    return await findAnswering(address.servers, reachMs);
  } catch (error) {
    throw explain(error, showAddress(address));
  }
}

/** Connects to the first server that accepts us, or throws an error that says why not and what to do. */
export async function connectTo(
  address: NatsAddress,
  servers: readonly string[],
  { connectMs = CONNECT_MS } = {},
): Promise<NatsConnection> {
  const place = showAddress(address);
  const options = { ...optionsFor(address), servers: [...servers], noRandomize: true, timeout: connectMs };
  const nc = await dial(options).catch((error: unknown) => {
    throw explain(error, place);
  });
  const version = versionOf(nc);
  if (isBefore(version, LEAST)) {
    await nc.close();
    throw new TeamError(
      'unsupported',
      `${place} runs nats-server ${version}; a journal needs ${LEAST.join('.')} or newer. Upgrade the servers.`,
    );
  }
  return nc;
}

/** The version of the server, right after connecting: it has said it before. */
export function versionOf({ info }: NatsConnection): string {
  return (info as ServerInfo).version;
}

async function dial(options: NodeConnectionOptions & { servers: string[] }): Promise<NatsConnection> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect(options);
    } catch (error) {
      const isSlow = error instanceof errors.TimeoutError || codeOf(error as Error) === 'ECONNRESET';
      if (!isSlow || attempt === ATTEMPTS || !(await anyGreets(options.servers))) throw error;
    }
  }
}

async function anyGreets(servers: readonly string[]): Promise<boolean> {
  const greeted = await Promise.all(servers.map((server) => greets(server, REACH_MS).catch(() => false)));
  return greeted.includes(true);
}

/** Tries a TCP connection to each server. */
export function reachServers({ servers }: NatsAddress): Promise<ServerReach[]> {
  return Promise.all(
    servers.map((server) =>
      reachServer(server).then(
        () => ({ server }),
        (failure: unknown) => ({ server, failure: failure as Error }),
      ),
    ),
  );
}

/**
 * Fails fast if no server is reachable, and skips one that accepts connections but stays silent while others greet. The
 * process of such a server may be stopped, and the library would wait its whole timeout before it tries the next. A
 * NATS server greets every client.
 */
async function findAnswering(servers: readonly string[], reachMs: number): Promise<string[]> {
  const speaking: string[] = [];
  const failures = new Map<string, Error>();
  const greeted = servers.map(async (server) => {
    try {
      if (await greets(server, reachMs)) speaking.push(server);
    } catch (error) {
      failures.set(server, error as Error);
    }
    return speaking.length > 0 || Promise.reject(new Error(`${server} is silent`));
  });
  // Wait a moment for servers that are nearly as fast. Usually all greet at once, and clients should spread over them.
  await Promise.any(greeted).then(
    () => sleep(NEARLY_MS),
    () => undefined,
  );
  if (failures.size === servers.length) {
    const known = [...failures.values()];
    // A known error says more than another server's silence.
    throw known.find((one) => 'code' in one) ?? (known[0] as Error);
  }
  // A server that has neither greeted nor failed comes before those that are unreachable.
  const rank = (server: string): number => (speaking.includes(server) ? 0 : failures.has(server) ? 2 : 1);
  const ranked = servers.map((server) => ({ server, rank: rank(server) + Math.random() }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ server }) => server);
}

const NEARLY_MS = 50;

/** Whether a server greets its clients. One that starts with TLS does not, and is used anyway. */
async function greets(server: string, reachMs: number): Promise<boolean> {
  const socket = await reachSocket(server, reachMs);
  try {
    await once(socket, 'data', { signal: AbortSignal.timeout(reachMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Throws if a server accepts no connection. A busy server may answer late, and gets time for that. But its operating
 * system accepts connections at once, so a server that does not accept is down.
 */
async function reachServer(server: string): Promise<void> {
  (await reachSocket(server)).destroy();
}

async function reachSocket(server: string, reachMs = REACH_MS): Promise<Socket> {
  const port = Number(server.slice(server.lastIndexOf(':') + 1));
  // An error while nobody waits is none of ours: the socket is only there to see whether somebody answers.
  const socket = connectSocket({ host: hostOf(server), port }).on('error', () => {});
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(reachMs) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw (error as Error).name === 'AbortError' ? new Error(`no answer within ${reachMs / 1000} s`) : error;
  }
}

function optionsFor(address: NatsAddress): NodeConnectionOptions {
  const { caFile, certFile, keyFile, tls } = address;
  const options = {
    checkServerIdentity: (host: string, certificate: PeerCertificate) => checkHost(address, host, certificate),
    ...(caFile !== undefined && { ca: readText(caFile, 'certificate authority') }),
    ...(certFile !== undefined && { cert: readText(certFile, 'certificate') }),
    ...(keyFile !== undefined && { key: readText(keyFile, 'key of the certificate') }),
  };
  const authenticator = authenticatorFor(address);
  return {
    servers: [...address.servers],
    name: `troupe ${process.pid}`,
    // A server on another machine that offers no TLS is refused before anything is sent to it.
    ...((tls || caFile !== undefined || certFile !== undefined) && { tls: options }),
    ...(authenticator && { authenticator }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    reconnectJitterTLS: 250,
    pingInterval: PING_MS,
    // The next connection reads a credential again that was renewed on disk.
    ignoreAuthErrorAbort: true,
    // Use only the servers that were named: others might be reached without TLS.
    ignoreClusterUpdates: true,
  };
}

/** Node's code for a certificate of another name. */
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

/**
 * If a server is given by IP address, the library makes Node expect a certificate for `localhost`. The certificate must
 * be for one of the given IP addresses instead.
 */
export function checkHost(
  { servers }: Pick<NatsAddress, 'servers'>,
  host: string,
  certificate: PeerCertificate,
): Error | undefined {
  const named = servers.map(hostOf);
  const candidates = named.includes(host) ? [host] : named.filter((one) => isIP(one) !== 0);
  if (candidates.some((one) => checkServerIdentity(one, certificate) === undefined)) return undefined;
  return Object.assign(new Error('The certificate is for another name.'), { code: WRONG_NAME });
}

/** The files are read again for each connection. */
function authenticatorFor({ credsFile, nkeyFile }: NatsAddress): Authenticator | undefined {
  if (credsFile !== undefined) {
    const read = () => new TextEncoder().encode(readText(credsFile, 'credentials file'));
    checkCreds(read(), credsFile);
    return credsAuthenticator(read);
  }
  if (nkeyFile === undefined) return undefined;
  const read = () => new TextEncoder().encode(readSeed(nkeyFile));
  read();
  return nkeyAuthenticator(read);
}

function checkCreds(creds: Uint8Array, file: string): void {
  try {
    credsAuthenticator(creds)('nonce');
  } catch (error) {
    throw new TeamError('invalid', `${file} is not a credentials file: it needs a user JWT and an nkey seed`, {
      cause: error,
    });
  }
}

/** The seed is on a line of its own; other lines are for people. */
function readSeed(file: string): string {
  const seed = /^\s*(SU[A-Z2-7]{56})\s*$/m.exec(readText(file, 'nkey file'))?.[1];
  if (seed !== undefined) return seed;
  throw new TeamError('invalid', `${file} holds no nkey: it needs the seed of a user, which begins with SU`);
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new TeamError('invalid', `The ${what} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Why a first connection failed. */
export function explain(error: unknown, place: string): unknown {
  if (!(error instanceof Error) || error instanceof TeamError) return error;
  const fail = (why: string) => new TeamError('storage', `No connection to ${place}: ${why}`, { cause: error });
  const code = codeOf(error);
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return fail('the server does not accept the credential. Give ?creds=FILE or ?nkey=FILE of a user that it knows.');
  }
  if (code === 'CERT_HAS_EXPIRED') return fail("the server's certificate has expired. Renew it on the server.");
  if (code === WRONG_NAME) {
    return fail(
      "the server's certificate is for another name. Use the name in it, or give the server one for this name.",
    );
  }
  if (/CERT|SIGNATURE|VERIFY/.test(code)) {
    return fail(`the server's certificate is not trusted (${error.message}). Give ?ca=FILE with its issuer.`);
  }
  if (/does not support 'tls'/.test(error.message)) {
    return fail(
      'the server does not encrypt. Servers on other machines must: give it a tls block (troupe journal init writes one).',
    );
  }
  if (/SSL|TLS|ECONNRESET/.test(code)) {
    return fail(
      `the connection could not be encrypted (${error.message}). Check the tls block of the server, and ?cert and ?key.`,
    );
  }
  if (/refused/.test(error.message) || code === 'ECONNREFUSED') {
    return fail('no server listens there. Start nats-server, or correct the address.');
  }
  if (code === 'ENOTFOUND') return fail('there is no such host. Correct the address.');
  return fail(`${error.message}. Check that nats-server runs there and that this machine reaches it.`);
}

/** Node's code for an error or its cause; empty if there is none. */
function codeOf(error: Error): string {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') return one.code;
  }
  return '';
}
