import { isAbsolute, join } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import { publicAddress } from '../../core/team-remote.ts';
import type { TeamRemote } from '../../core/team-remote.ts';
import { joinSome, quote } from '../../core/text.ts';
import type { Checkout } from '../checkout.ts';
import type { Git, GitResult } from '../git.ts';

/** A setting of git: its key and its value. */
export type Setting = readonly [key: string, value: string];

/** How a machine reaches a remote. */
export interface WayToRemote {
  /** What the user's git would use to get there: addresses, credential helpers, proxies. It may hold secrets. */
  readonly settings: readonly Setting[];
  /** The programs at the other end, if that is on this disk. */
  readonly programs: readonly string[];
}

/** Runs a git command that reaches the remote. */
export type ReachRun = (
  args: readonly string[],
  options?: { readonly config?: readonly string[]; readonly settings?: readonly Setting[] },
) => Promise<GitResult>;

/** What of the user's settings is for the way to a remote. Nothing else holds: no hook, no filter, no default. */
const FOR_THE_WAY =
  /^(?:url\..*\.(?:insteadof|pushinsteadof)|credential\..*|http\..*|ssh\.variant|core\.(?:sshcommand|gitproxy)|protocol\..*\.allow|lfs\.(?!storage$).*)$/;
const OF_A_REMOTE = /^(?:url|pushurl|proxy|proxyauthmethod|uploadpack|receivepack|lfsurl|lfspushurl)$/;

/** Git's own defaults: other kinds of addresses run programs. */
const DEFAULTS: readonly Setting[] = [
  ...['http', 'https', 'ssh', 'git', 'file'].map((kind) => [`protocol.${kind}.allow`, 'always'] as const),
  // A connection that brings nothing for a minute is given up.
  ['http.lowSpeedLimit', '1'],
  ['http.lowSpeedTime', '60'],
];

/** Finds a remote in a checkout, and its address as other machines may know it. */
export async function findRemote(git: Git, { folder }: Checkout, name: string): Promise<TeamRemote> {
  const settings = await readSettings(git, folder);
  const [first] = addressesOf(settings, name);
  if (first !== undefined) {
    const url = publicAddress(replaceBeginning(settings, first));
    return { name, ...(url !== undefined && { url }) };
  }
  const names = settings.flatMap(([key]) => /^remote\.(.+)\.url$/.exec(key)?.[1] ?? []);
  const known = names.length === 0 ? 'it has none' : `it has ${joinSome([...new Set(names)], ', ')}`;
  throw new TeamError(
    'invalid',
    `work.remote is ${quote(name)}, and ${folder} has no such remote (${known}): correct the name, or add it with ` +
      `git remote add ${name} URL`,
  );
}

/**
 * The way to a remote from this machine: as the checkout says, with the user's own settings. Without a checkout, the
 * journal has to name the address.
 */
export async function findWay(
  git: Git,
  { checkout, remote, neutral }: { checkout: Checkout; remote: TeamRemote; neutral: string },
): Promise<WayToRemote> {
  const { name, url } = remote;
  const found = await readSettings(git, checkout.isAbsent ? neutral : checkout.folder);
  const addresses = checkout.isAbsent ? [] : addressesOf(found, name);
  const ours = found.filter(([key]) => FOR_THE_WAY.test(key));
  if (addresses.length > 0) {
    const beginning = `remote.${name}.`;
    const own = found
      .filter(([key]) => key.startsWith(beginning) && OF_A_REMOTE.test(key.slice(beginning.length)))
      .map(([key, value]): Setting => [key, key.endsWith('url') ? fromFolder(checkout.folder, value) : value]);
    const isPath = addresses.some((address) => isOnDisk(replaceBeginning(found, address)));
    return { settings: [...DEFAULTS, ...ours, ...own], programs: isPath ? safeFolders(found) : [] };
  }
  if (url === undefined) throw unreachable(checkout, name);
  return {
    settings: [...DEFAULTS, ...ours, [`remote.${name}.url`, url]],
    programs: isOnDisk(url) ? [...safeFolders(found), ...WITHOUT_PROGRAMS] : [],
  };
}

/** A repository on this disk that only the journal names: none of its programs runs. */
const WITHOUT_PROGRAMS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'receive.autogc=false',
];

/** Git at the other end reads the user's own settings for this, and ours are without them. */
function safeFolders(settings: readonly Setting[]): string[] {
  return settings.flatMap(([key, value]) => (key === 'safe.directory' ? `${key}=${value}` : []));
}

function unreachable({ folder, isAbsent }: Checkout, name: string): TeamError {
  const why = isAbsent
    ? `this machine has no checkout that knows it, and the journal does not have its address`
    : `${folder} has no remote of that name, and the journal does not have its address`;
  return new TeamError('storage', `${why}: run git remote add ${name} URL in a checkout on this machine`);
}

async function readSettings(git: Git, folder: string): Promise<Setting[]> {
  const { out } = await git.ask(folder, ['config', '--list', '-z']);
  return out
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const end = entry.indexOf('\n');
      return end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

function addressesOf(settings: readonly Setting[], name: string): string[] {
  return settings.flatMap(([key, value]) => (key === `remote.${name}.url` && value !== '' ? value : []));
}

/** The longest beginning that the user's settings replace, as in git. */
function replaceBeginning(settings: readonly Setting[], address: string): string {
  let best: { readonly to: string; readonly from: string } | undefined;
  for (const [key, from] of settings) {
    const [, to] = /^url\.(.*)\.insteadof$/.exec(key) ?? [];
    if (to === undefined || from === '' || !address.startsWith(from)) continue;
    if (from.length > (best?.from.length ?? 0)) best = { to, from };
  }
  return best ? best.to + address.slice(best.from.length) : address;
}

/** A path in the settings of a checkout begins at its top folder. */
function fromFolder(folder: string, address: string): string {
  const isPath = !/^[^/]*:/.test(address) && !isAbsolute(address);
  return isPath ? join(folder, address) : address;
}

function isOnDisk(address: string): boolean {
  return /^file:\/\//i.test(address) || !/^[^/]*:/.test(address);
}
