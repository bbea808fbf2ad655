import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectSocket, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkServerIdentity } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import { connect, credsAuthenticator, errors, nkeyAuthenticator } from '@nats-io/transport-node';
import type { Authenticator, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import { hostOf, showAddress } from './address.ts';
import type { NatsAddress } from './address.ts';
import { isBefore } from './durability.ts';

/** Pull consumers tell by heartbeats that they live since 2.9, and the tests run on it. */
const LEAST = [2, 9] as const;

/** How long a server may take to answer the first time; a busy machine took more than 5 s to agree on encryption. */
const CONNECT_MS = 10_000;

/**
 * How often to try a server that greets and then does not get us in: on a busy machine both sides may run out of the time that they
 * have for encryption (a server gives 2 s and says nothing).
 */
const ATTEMPTS = 3;

/** How long the way to a server may be. */
const REACH_MS = 2_500;

/** A server that says nothing is taken for lost after two of these. */
const PING_MS = 5_000;

/** The servers of an address in the order in which to try them: those that answer, in any order, then the others. Throws where none is there. */
export async function orderServers(address: NatsAddress, { reachMs = REACH_MS } = {}): Promise<string[]> {
  // What is wrong with the address is said before anybody is looked for.
  optionsFor(address);
  try {
    return await findAnswering(address.servers, reachMs);
  } catch (error) {
    throw explain(error, showAddress(address));
  }
}

/** Connects to the first of the servers that takes us, or says why that cannot be and what to do. */
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
  const { version = '0' } = nc.info ?? {};
  if (isBefore(version, LEAST)) {
    await nc.close();
    throw new TeamError(
      'unsupported',
      `${place} runs nats-server ${version}; a journal needs ${LEAST.join('.')} or newer. Upgrade the servers.`,
    );
  }
  return nc;
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

/** A server, and why nobody gets through to it, where that is so. */
export interface ServerReach {
  readonly server: string;
  readonly failure?: Error;
}

/** Which servers take a connection at all. */
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
 * Nobody waits long for servers of which none is there, nor for one that takes connections and says nothing while others speak: its
 * process may be stopped, and the library would give it all its time before it tries the next. A server greets whoever connects.
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
  // Who is nearly as fast is as good: that all speak at once is usual, and then they share the work.
  await Promise.any(greeted).then(
    () => sleep(NEARLY_MS),
    () => undefined,
  );
  if (failures.size === servers.length) {
    const known = [...failures.values()];
    // What is known of one says more than that another is silent.
    throw known.find((one) => 'code' in one) ?? (known[0] as Error);
  }
  // Of one that has neither spoken nor failed nothing is known: it comes before those that are not there.
  const rank = (server: string): number => (speaking.includes(server) ? 0 : failures.has(server) ? 2 : 1);
  const ranked = servers.map((server) => ({ server, rank: rank(server) + Math.random() }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ server }) => server);
}

const NEARLY_MS = 50;

/** Whether a server says something to who connects. One that begins with encryption does not, and is taken all the same. */
async function greets(server: string, reachMs: number): Promise<boolean> {
  const socket = await reachSocket(server, reachMs);
  try {
    await once(socket, 'data', { signal: AbortSignal.timeout(reachMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.on('error', () => {}).destroy();
  }
}

/**
 * Throws where a server takes no connection. One that is busy is slow to answer, and gets its time for that; but its system takes
 * connections for it at once, so who does not is not there.
 */
async function reachServer(server: string): Promise<void> {
  (await reachSocket(server)).on('error', () => {}).destroy();
}

async function reachSocket(server: string, reachMs = REACH_MS): Promise<Socket> {
  const socket = connectSocket({ host: hostOf(server), port: Number(server.slice(server.lastIndexOf(':') + 1)) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(reachMs) });
    return socket;
  } catch (error) {
    socket.on('error', () => {}).destroy();
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
    // A server on another machine that offers no encryption is refused before anything is said to it.
    ...((tls || caFile !== undefined || certFile !== undefined) && { tls: options }),
    ...(authenticator && { authenticator }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    reconnectJitterTLS: 250,
    pingInterval: PING_MS,
    // A credential that was renewed on disk is read again with the next connection.
    ignoreAuthErrorAbort: true,
    // Only servers that were named: others might be reached without encryption.
    ignoreClusterUpdates: true,
  };
}

/**
 * Where a server is named by its number, the library lets Node ask for a certificate of `localhost`. It has to be one for
 * the number, of those that were given.
 */
function checkHost({ servers }: NatsAddress, host: string, certificate: PeerCertificate): Error | undefined {
  const named = servers.map(hostOf);
  const candidates = named.includes(host) ? [host] : named.filter((one) => isIP(one) !== 0);
  const failures = candidates.map((one) => checkServerIdentity(one, certificate));
  return failures.includes(undefined) ? undefined : (failures[0] ?? checkServerIdentity(host, certificate));
}

/** The files are read anew for each connection. */
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
    throw new TeamError('invalid', `${file} is no credentials file: it needs a user JWT and an nkey seed`, {
      cause: error,
    });
  }
}

/** The seed stands in a line of its own; other lines are for people. */
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
function explain(error: unknown, place: string): unknown {
  if (!(error instanceof Error) || error instanceof TeamError) return error;
  const fail = (why: string) => new TeamError('storage', `No connection to ${place}: ${why}`, { cause: error });
  const code = codeOf(error);
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return fail('the server does not accept the credential. Give ?creds=FILE or ?nkey=FILE of a user that it knows.');
  }
  if (code === 'CERT_HAS_EXPIRED') return fail("the server's certificate has expired. Renew it on the server.");
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return fail(
      "the server's certificate is for another name. Use the name in it, or give the server one for this name.",
    );
  }
  if (code !== undefined && /CERT|SIGNATURE|VERIFY/.test(code)) {
    return fail(`the server's certificate is not trusted (${error.message}). Give ?ca=FILE with who signed it.`);
  }
  if (/does not support 'tls'/.test(error.message)) {
    return fail(
      'the server does not encrypt. Servers on other machines must: give it a tls block (troupe journal init writes one).',
    );
  }
  if (code !== undefined && /SSL|TLS|ECONNRESET/.test(code)) {
    return fail(
      `the connection could not be encrypted (${error.message}). Check the tls block of the server, and ?cert and ?key.`,
    );
  }
  if (/refused/.test(error.message) || code === 'ECONNREFUSED') {
    return fail('nobody listens there. Start nats-server, or correct the address.');
  }
  if (code === 'ENOTFOUND') return fail('there is no such host. Correct the address.');
  return fail(`${error.message}. Check that nats-server runs there and that this machine reaches it.`);
}

function codeOf(error: Error): string | undefined {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') return one.code;
  }
  return undefined;
}
