import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import type { MarkedProcess } from '../agents/process-table.ts';
import { findAllMarked, identify } from '../agents/process.ts';
import { ChosenId, Slug } from '../core/fields.ts';
import { replacePrivateFile } from './private-file.ts';
import { readTeammateCommand } from './teammate-command.ts';

/** A record of our process. Written before it starts and again afterwards; removed when it is gone. */
export const ProcessRecord = z.object({
  /** The marker that it and all its descendants carry. */
  id: ChosenId,
  teamId: Slug,
  /** Its member; absent for a hook. */
  memberId: Slug.optional(),
  startedAt: z.string(),
  /** How often the team's lead had been replaced when it was started; see `leadTerm` of a team. */
  leadTerm: z.number().int().optional(),
  /** Whether its member was the lead then; absent: no, or unknown. */
  leads: z.boolean().optional(),
  /** Absent until it has started. */
  identity: z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() }).optional(),
});
export type ProcessRecord = z.output<typeof ProcessRecord>;

/** The process of a member. */
export type MemberProcess = ProcessRecord & { readonly memberId: string };

/** How much is read of the end of a log, in bytes, and of its last line. */
const LOG_END = 4_096;
const LINE_LENGTH = 300;

/** The records of one state directory, a file each. */
export interface ProcessRecords {
  /** A new id. It names the state directory, so that its processes are found without their records. */
  newId(kind: 'member' | 'hook'): string;
  write(record: ProcessRecord): void;
  /** Removes the record and the files beside it: the credential, the log and the pulse. */
  remove(id: string): void;
  /** The last line of its log, usually why it ended. Empty if there is none. */
  lastWords(id: string): string;
  /**
   * All records; an unreadable one stays and is reported. The record of a running teammate that was lost is made again
   * from its process: otherwise the member would be started twice, and the kill switch would miss it.
   */
  list(): ProcessRecord[];
  /** The ids of running processes without a record and without a teammate: hooks, and what teammates left behind. */
  strays(): string[];
}

/** Keeps records in a folder. They are also read without the daemon, to end everything when it hangs. */
export function openProcessRecords(folder: string, onUnreadable: (path: string) => void = () => {}): ProcessRecords {
  makeFolder(folder);
  const tag = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 12);
  const pathOf = (id: string): string => join(folder, `${id}.json`);
  const read = (): ProcessRecord[] => readRecords(folder, onUnreadable);
  return {
    newId: (kind) => `${kind}-${tag}-${crypto.randomUUID()}`,
    write(record) {
      // Somebody may have removed the folder while the daemon runs.
      makeFolder(folder);
      replacePrivateFile(pathOf(record.id), JSON.stringify(record));
    },
    remove: (id) => {
      for (const ending of ['json', 'token', 'log', 'pulse']) rmSync(join(folder, `${id}.${ending}`), { force: true });
    },
    lastWords: (id) => lastLine(join(folder, `${id}.log`)),
    list() {
      const records = read();
      return [...records, ...findLost(tag, records).flatMap(({ record }) => record ?? [])];
    },
    strays: () => findLost(tag, readRecords(folder)).flatMap(({ id, record }) => (record ? [] : id)),
  };
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

function readRecords(folder: string, onUnreadable: (path: string) => void = () => {}): ProcessRecord[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      try {
        return ProcessRecord.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')));
      } catch {
        onUnreadable(join(folder, name));
        return [];
      }
    });
}

/** Processes that carry an id of this state directory and have no record; with a new record if one is a teammate. */
function findLost(tag: string, records: readonly ProcessRecord[]): { id: string; record?: ProcessRecord }[] {
  const known = new Set(records.map(({ id }) => id));
  const lost = new Map<string, ProcessRecord | undefined>();
  for (const found of findAllMarked()) {
    const { marker } = found;
    const isOurs = marker.startsWith(`member-${tag}-`) || marker.startsWith(`hook-${tag}-`);
    if (!isOurs || known.has(marker)) continue;
    lost.set(marker, lost.get(marker) ?? recordOf(found));
  }
  return [...lost].map(([id, record]) => ({ id, ...(record && { record }) }));
}

function recordOf({ pid, marker, command }: MarkedProcess): ProcessRecord | undefined {
  const teammate = readTeammateCommand(command);
  if (!teammate) return undefined;
  return { id: marker, ...teammate, startedAt: new Date().toISOString(), identity: identify(pid) };
}

function lastLine(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      const end = Buffer.alloc(Math.min(LOG_END, size));
      readSync(file, end, 0, end.length, size - end.length);
      const line = end.toString('utf8').trim().split('\n').at(-1) ?? '';
      return stripVTControlCharacters(line)
        .replace(/\p{Cc}/gu, '')
        .slice(0, LINE_LENGTH);
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}
