import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../client/client.ts';
import { findHome } from '../../../client/home.ts';
import { splitLines } from '../../../core/lines.ts';
import { isLost, waitingOf } from '../../../core/waiting.ts';
import type { Arguments, Surroundings } from '../../line/command.ts';
import { openClient } from '../../reach/connect.ts';
import { INTERRUPTED, Refusal, UsageError } from '../../show/errors.ts';
import { paint } from '../../show/screen.ts';
import type { Screen, Style } from '../../show/screen.ts';
import { clean } from '../../show/text.ts';
import { print, warn } from '../../show/write.ts';
import { findTeamOf, printTranscript } from './transcript.ts';
import type { Reading } from './transcript.ts';

const POLL_MS = 200;
const CHUNK = 64 * 1024;

/** How many lines of the daemon's log are shown by default. */
const LINES = 100;

/** Shows the end of the daemon's log, which needs no daemon, and follows it if asked. */
export async function run(given: Arguments, surroundings: Surroundings): Promise<number> {
  const { environment, screen, signal } = surroundings;
  const { daemon, follow = false, lines, memberId, teamId } = given.input as LogsInput;
  if (memberId !== undefined) {
    return memberLogs({ memberId, teamId, follow, lines, json: given.json }, surroundings);
  }
  if (!daemon) throw new UsageError('Whose log? Use troupe logs MEMBER, or troupe logs --daemon', 'logs');
  const show = (line: string): void => print(given.json ? `${line}\n` : readable(line, screen));
  const { log } = findHome(environment);
  const reader = openLog(log);
  if (!reader && !follow) throw new Refusal('not_found', `There is no log yet: ${log}`);
  const found = reader?.read() ?? [];
  for (const line of found.slice(-(lines ?? LINES) || Infinity)) show(line);
  if (found.length === 0) warn(`The log is empty: ${log}\n`);
  if (!follow) return 0;
  await followLog(log, reader, { show, signal });
  return INTERRUPTED;
}

interface LogsInput {
  readonly daemon?: boolean;
  readonly follow?: boolean;
  readonly lines?: number;
  readonly memberId?: string;
  readonly teamId?: string;
}

async function memberLogs(
  {
    memberId,
    teamId: named,
    ...how
  }: { memberId: string; teamId: string | undefined } & Pick<Reading, 'follow' | 'lines' | 'json'>,
  { environment, screen, signal }: Surroundings,
): Promise<number> {
  const client = openClient(environment, how.follow ? { patience: Infinity } : {});
  try {
    const teamId = await findTeamOf(client, memberId, { teamId: named, mayBeClosed: true });
    const isSomething = await printTranscript(client, { teamId, memberId, ...how, screen, signal });
    if (!isSomething) warn(`${memberId} of ${teamId} has no transcript: ${await whyNone(client, teamId, memberId)}.\n`);
    return 0;
  } finally {
    client.close();
  }
}

/** Why there is no transcript here: it is on the machine where its member ran. */
async function whyNone(client: Client, teamId: string, memberId: string): Promise<string> {
  const member = await client.call('member.show', { teamId, memberId });
  const { host, status, agent } = member;
  if (!agent) return 'Troupe runs no agent for it';
  if (isLost(member)) {
    return `it is on the machine ${host}, which is not connected: run troupe serve --name ${host} there`;
  }
  const reason = status === 'spawning' ? waitingOf(member) : undefined;
  return reason === undefined ? 'its agent has not run here' : `it has not started: ${clean(reason)}`;
}

/** Reads a daemon's log file to its end, again and again. */
interface Reader {
  read(): string[];
  close(): void;
  readonly inode: number;
}

function openLog(path: string): Reader | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const buffer = Buffer.alloc(CHUNK);
  let found: string[] = [];
  const lines = splitLines((line) => found.push(line));
  return {
    inode: fstatSync(file).ino,
    read() {
      found = [];
      for (let got = readSync(file, buffer); got > 0; got = readSync(file, buffer)) {
        lines.push(buffer.subarray(0, got));
      }
      return found;
    },
    close: () => closeSync(file),
  };
}

async function followLog(
  path: string,
  first: Reader | undefined,
  { show, signal }: { show: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  let reader = first;
  while (!signal.aborted) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    for (const line of reader?.read() ?? []) show(line);
    // A full log is renamed and a new one is begun.
    const inode = statSync(path, { throwIfNoEntry: false })?.ino;
    if (inode === undefined || inode === reader?.inode) continue;
    reader?.close();
    reader = openLog(path);
    for (const line of reader?.read() ?? []) show(line);
  }
  reader?.close();
}

const LEVELS: Readonly<Record<string, Style | undefined>> = {
  error: 'red',
  warn: 'yellow',
  info: 'green',
  debug: 'dim',
};

/** A log line for people: time, level, event and facts. */
function readable(line: string, screen: Screen): string {
  const entry = parseEntry(line);
  if (!entry) return `${clean(line)}\n`;
  const { time, level, event, ...facts } = entry;
  const at = screen.isTerminal ? showMoment(String(time)) : String(time);
  const rest = Object.entries(facts).map(([key, value]) => `${paint(screen, 'dim', `${clean(key)}=`)}${fact(value)}`);
  const head = [
    paint(screen, 'dim', clean(at)),
    paint(screen, LEVELS[String(level)], clean(String(level)).padEnd(5)),
    paint(screen, 'bold', clean(String(event))),
  ];
  return `${[...head, ...rest].join(' ')}\n`;
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Day and time in the local time zone, as people compare a log with their clock. */
function showMoment(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const day = at.toDateString() === new Date().toDateString() ? '' : `${at.toISOString().slice(5, 10)} `;
  return `${day}${at.toTimeString().slice(0, 8)}`;
}

function fact(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return clean(/^[\w./:@+-]+$/.test(text) || typeof value !== 'string' ? text : JSON.stringify(text));
}
