import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findHome } from '../../client/home.ts';
import { explainFileError } from '../../core/file-errors.ts';
import { shellQuote } from '../../core/shell.ts';
import { typedTime } from '../../core/typed-time.ts';
import type { Hosts } from '../../journal/hosts.ts';
import { writeServerConfigs } from '../../journal/nats/server-config.ts';
import type { Setup } from '../../journal/nats/settings.ts';
import { setUpNatsJournal } from '../../journal/nats/setup.ts';
import { isThere, lasts, openJournal, readJournalPlace } from '../../journals.ts';
import type { JournalPlace } from '../../journals.ts';
import { copyTeams } from '../../runtime/copy-teams.ts';
import type { Copied } from '../../runtime/copy-teams.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { Refusal } from '../show/errors.ts';
import { clean } from '../show/text.ts';
import { print, toJson, warn } from '../show/write.ts';

interface InitInput {
  readonly address: string;
  readonly replicas?: number;
  readonly maxBytes?: number;
  readonly lease?: number;
  readonly config?: string;
}

type Kept = NonNullable<Setup['before']>;

/** Sets up or changes a journal on servers; with `--config`, only writes the configuration files of the servers. */
export async function runInit(given: Arguments, _surroundings: Surroundings): Promise<number> {
  const { address, replicas, maxBytes, lease, config } = given.input as unknown as InitInput;
  if (config !== undefined) return writeConfigs(address, config, given.json);
  const setup = await setUpNatsJournal(address, {
    ...(replicas !== undefined && { replicas: readReplicas(replicas) }),
    ...(maxBytes !== undefined && { maxBytes: readBound(maxBytes) }),
    ...(lease !== undefined && { leaseMs: readLease(lease) }),
    onWait: (names) =>
      warn(`A shorter lease applies when all daemons use it; waiting for ${clean(names.join(', '))}.\n`),
  });
  print(given.json ? toJson(setup, undefined) : describeSetup(setup, address));
  return 0;
}

function describeSetup(setup: Setup, address: string): string {
  const { before, changed } = setup;
  const rows = [
    ['replicas', ({ replicas }: Kept) => String(replicas)],
    ['max-bytes', ({ maxBytes }: Kept) => (maxBytes === undefined ? 'no bound' : String(maxBytes))],
    ['lease', ({ leaseMs }: Kept) => `${leaseMs / 1000}s`],
  ] as const;
  const lines = rows.map(([name, show]) => {
    const [was, is] = [before && show(before), show(setup)];
    const note = was === undefined ? '' : was === is ? ' (as before)' : ` (was ${was})`;
    return `  ${name.padEnd(9)}  ${is}${note}\n`;
  });
  const teams = `${changed} ${changed === 1 ? 'team was' : 'teams were'} changed`;
  return [
    before ? `The journal already existed; ${teams}:\n` : 'The journal was created:\n',
    ...lines,
    `Start daemons on it: troupe serve --journal ${clean(shellQuote(address))}\n`,
  ].join('');
}

/** Needs no server, because servers cannot start without these files. */
function writeConfigs(address: string, folder: string, json: boolean): number {
  const path = resolve(folder);
  const files = writeServerConfigs(address, process.cwd()).map((file) => ({ ...file, path: join(path, file.name) }));
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const file of files) writeFileSync(file.path, file.text, { flag: 'wx', mode: file.isPrivate ? 0o600 : 0o644 });
  } catch (error) {
    if (existsSync(path) && !statSync(path).isDirectory()) {
      throw new Refusal('invalid', `${folder} is a file: name a folder`);
    }
    throw (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? new Refusal('exists', `${folder} already has such files: name another folder`)
      : explainFileError(error, folder, 'write');
  }
  // Two servers have no quorum without both, so the number of replicas is odd.
  const replicas = files.length > 3 ? 3 : 1;
  const key = files.find(({ isPrivate }) => isPrivate)?.path ?? '';
  if (json) print(toJson({ files: files.map((file) => file.path) }, undefined));
  else {
    print(
      `Wrote ${files.map(({ name }) => name).join(', ')} to ${clean(path)}. Read them, start the servers, then:\n` +
        `  troupe journal init ${clean(shellQuote(withKey(address, key)))} --replicas ${replicas}\n`,
    );
  }
  return 0;
}

function withKey(address: string, file: string): string {
  const path = file.split('/').map(encodeURIComponent).join('/');
  return `${address}${address.includes('?') ? '&' : '?'}nkey=${path}`;
}

function readReplicas(replicas: number): number {
  if ([1, 3, 5].includes(replicas)) return replicas;
  throw new Refusal('invalid', `--replicas ${replicas}: use 1, 3 or 5; with 2, both servers would always have to run`);
}

function readBound(bytes: number): number {
  if (Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
  throw new Refusal('invalid', `--max-bytes ${bytes}: a whole number of bytes, or 0 for no limit`);
}

function readLease(ms: number): number {
  if (ms >= 2_000) return ms;
  throw new Refusal(
    'invalid',
    `--lease: must be at least 2s, not ${typedTime(ms)}; with less, a busy machine would count as dead`,
  );
}

interface CopyInput {
  readonly from: string;
  readonly to: string;
  readonly teams?: readonly string[];
}

/** Copies teams from one journal to another, and verifies the copy. */
export async function runCopy(given: Arguments, { environment, signal }: Surroundings): Promise<number> {
  const { from, to, teams } = given.input as unknown as CopyInput;
  const file = findHome(environment).journal;
  const [source, target] = [from, to].map((place) => readPlace(place)) as [JournalPlace, JournalPlace];
  if (!isThere(source, { file })) throw new Refusal('not_found', `There is no journal at ${from}`);
  const opened = [await openJournal(source, { file })];
  try {
    opened.push(await openJournal(target, { file }));
    const [read, write] = opened.map(({ journal }) => journal);
    if (!read || !write) return 1;
    await warnOfLiving(opened[0]?.hosts, from);
    const copied = await copyTeams(read, write, {
      ...(teams && { teams }),
      signal,
      onTeam: ({ team, batches, added }) => {
        if (!given.json) print(`${clean(team)}: ${batches} batches, ${added} of them new, all verified\n`);
      },
    });
    report(copied, given.json);
  } finally {
    await Promise.all(opened.map(({ journal }) => journal.close()));
  }
  return 0;
}

/** Warns about running daemons: their later writes are not in the copy, and their members would run twice. */
async function warnOfLiving(hosts: Hosts | undefined, from: string): Promise<void> {
  const living = (await hosts?.list()) ?? [];
  if (living.length === 0) return;
  const names = living.map(({ name }) => name).join(', ');
  warn(
    `Daemons still use ${clean(from)}: ${clean(names)}. What they write from now on is not copied, and teams ` +
      'started from the copy would run twice. Stop the daemons first (troupe stop on each), then copy again.\n',
  );
}

function readPlace(text: string): JournalPlace {
  const place = readJournalPlace(text, process.cwd());
  if (lasts(place)) return place;
  throw new Refusal('invalid', 'a journal in memory ends with its process: name a file or servers');
}

function report(copied: readonly Copied[], json: boolean): void {
  if (json) print(toJson({ teams: copied }, undefined));
  else if (copied.length === 0) warn('There is no team to copy.\n');
  else print(`${copied.length} ${copied.length === 1 ? 'team' : 'teams'} copied.\n`);
}
