import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import { withoutPassword } from '../../core/secret.ts';

/** The address of a journal on NATS: its servers and the credentials for them. */
export interface NatsAddress {
  /** `host:port` of each server. */
  readonly servers: readonly string[];
  /** One cluster may hold several journals; this tells them apart. */
  readonly prefix: string;
  /** Send nothing before the connection is encrypted. Always true if a server is on another machine. */
  readonly tls: boolean;
  readonly credsFile?: string;
  readonly nkeyFile?: string;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** The servers' monitoring address: only monitoring tells when they flush. */
  readonly monitor?: string;
}

const PARAMETERS = ['creds', 'nkey', 'ca', 'cert', 'key', 'prefix', 'monitor'] as const;
type Parameter = (typeof PARAMETERS)[number];

/** Parses `nats://host:port,host:port?creds=FILE`. `tls://` always encrypts. Paths are relative to `base`. */
export function readNatsAddress(text: string, base: string): NatsAddress {
  const parts = /^(nats|tls):\/\/([^/?#]+)\/?(?:\?(.*))?$/.exec(text);
  const fail = (why: string) =>
    new TeamError('invalid', `${withoutPassword(text)} is not the address of a journal: ${why}`);
  if (!parts) throw fail('write nats://host:port, more servers after commas, options after a question mark');
  const [, scheme, hosts = '', query = ''] = parts;
  if (hosts.includes('@')) {
    throw fail(
      'everybody on the machine can see a password in an address; put the credential in a file: ?creds=FILE or ?nkey=FILE',
    );
  }
  const servers = hosts.split(',').map((host) => readServer(host, fail));
  const given = readParameters(query, fail);
  const { prefix = 'troupe' } = given;
  if (!/^[a-z0-9-]{1,32}$/.test(prefix)) throw fail('a prefix is at most 32 of a-z, 0-9 and -');
  if (given.creds !== undefined && given.nkey !== undefined) throw fail('give creds or nkey, not both');
  if ((given.cert === undefined) !== (given.key === undefined)) throw fail('cert and key go together');
  if (given.monitor?.match(/^https?:\/\//) === null) throw fail('monitor is an address: http://host:port');
  return {
    servers,
    prefix,
    tls: scheme === 'tls' || !servers.every((server) => isLoopback(hostOf(server))),
    ...(given.creds !== undefined && { credsFile: resolve(base, given.creds) }),
    ...(given.nkey !== undefined && { nkeyFile: resolve(base, given.nkey) }),
    ...(given.ca !== undefined && { caFile: resolve(base, given.ca) }),
    ...(given.cert !== undefined && { certFile: resolve(base, given.cert) }),
    ...(given.key !== undefined && { keyFile: resolve(base, given.key) }),
    ...(given.monitor !== undefined && { monitor: given.monitor }),
  };
}

/** The servers, and the journal's prefix if it is not the default. */
export function showAddress({ servers, prefix, tls }: NatsAddress): string {
  return `${tls ? 'tls' : 'nats'}://${servers.join(',')}${prefix === 'troupe' ? '' : `?prefix=${prefix}`}`;
}

/** The whole address, valid in every folder; undefined if it names a credential, which must not be reused unasked. */
export function repeatAddress(text: string, base: string): string | undefined {
  const address = readNatsAddress(text, base);
  const { caFile, monitor, credsFile, nkeyFile, keyFile } = address;
  if (credsFile !== undefined || nkeyFile !== undefined || keyFile !== undefined) return undefined;
  const more = new URLSearchParams({
    ...(caFile !== undefined && { ca: caFile }),
    ...(monitor && { monitor }),
  }).toString();
  const shown = showAddress(address);
  return more === '' ? shown : `${shown}${shown.includes('?') ? '&' : '?'}${more}`;
}

/** Parameters that name a file. */
const FILES = ['creds', 'nkey', 'ca', 'cert', 'key'] as const;

/** The same address with absolute paths, resolved from `base`, for use in another folder. */
export function anchorAddress(text: string, base: string): string {
  const [servers = '', ...query] = text.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  const files = FILES.filter((name) => parameters.get(name));
  if (files.length === 0) return text;
  for (const name of files) parameters.set(name, resolve(base, parameters.get(name) as string));
  return `${servers}?${parameters.toString()}`;
}

type Fail = (why: string) => TeamError;

function readServer(text: string, fail: Fail): string {
  if (!URL.canParse(`nats://${text}`)) throw fail(`${JSON.stringify(text)} is not a host and port`);
  const { hostname, port } = new URL(`nats://${text}`);
  if (hostname === '') throw fail('a host is missing');
  return `${hostname}:${port === '' ? '4222' : port}`;
}

function readParameters(query: string, fail: Fail): Partial<Record<Parameter, string>> {
  const given: Partial<Record<Parameter, string>> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const parameter = PARAMETERS.find((one) => one === name);
    if (!parameter) throw fail(`there is no option ${JSON.stringify(name)}; the options are ${PARAMETERS.join(', ')}`);
    if (value === '') throw fail(`${name} is empty`);
    given[parameter] = value;
  }
  return given;
}

/** The host of `host:port`. */
export function hostOf(server: string): string {
  return server.slice(0, server.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
