import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { ChosenId, Slug } from '../core/text.ts';
import { replacePrivateFile } from './private-file.ts';

/** A record of our process. Written before it starts and again afterwards; removed when it is gone. */
export const ProcessRecord = z.object({
  /** The marker that it and all its descendants carry. */
  id: ChosenId,
  teamId: Slug,
  /** Its member; absent for a hook. */
  memberId: Slug.optional(),
  startedAt: z.string(),
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
  write(record: ProcessRecord): void;
  /** Removes the record and the files beside it: the credential and the log. */
  remove(id: string): void;
  /** The last line of its log, usually why it ended. Empty if there is none. */
  lastWords(id: string): string;
  /** All records; an unreadable one stays and is reported. */
  list(): ProcessRecord[];
}

/** Keeps records in a folder. They are also read without the daemon, to end everything when it hangs. */
export function openProcessRecords(folder: string, onUnreadable: (path: string) => void = () => {}): ProcessRecords {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pathOf = (id: string): string => join(folder, `${id}.json`);
  return {
    write: (record) => replacePrivateFile(pathOf(record.id), JSON.stringify(record)),
    remove: (id) => {
      for (const ending of ['json', 'token', 'log']) rmSync(join(folder, `${id}.${ending}`), { force: true });
    },
    lastWords: (id) => lastLine(join(folder, `${id}.log`)),
    list: () =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .flatMap((name) => {
          try {
            return ProcessRecord.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')));
          } catch {
            onUnreadable(join(folder, name));
            return [];
          }
        }),
  };
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
