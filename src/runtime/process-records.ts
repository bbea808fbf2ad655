import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { ChosenId, Slug } from '../core/text.ts';
import { replacePrivateFile } from './private-file.ts';

/** What is known of a process of ours. Written before it starts, and again when it has; removed when it is gone. */
export const ProcessRecord = z.object({
  /** The marker that it and all its descendants carry. */
  id: ChosenId,
  teamId: Slug,
  /** Whom it runs; absent for a hook. */
  memberId: Slug.optional(),
  startedAt: z.string(),
  /** Absent while it is only intended. */
  identity: z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() }).optional(),
});
export type ProcessRecord = z.output<typeof ProcessRecord>;

/** The process of a member. */
export type MemberProcess = ProcessRecord & { readonly memberId: string };

/** What is read of the end of a log, and of its last line. Bytes. */
const LOG_END = 4_096;
const LINE_LENGTH = 300;

/** The records of one state directory, a file each. */
export interface ProcessRecords {
  write(record: ProcessRecord): void;
  /** Removes the record and what lies beside it: the credential, the log. */
  remove(id: string): void;
  /** The last line of its log: why it ended, as a rule. Empty when it said nothing. */
  lastWords(id: string): string;
  /** All of them; one that cannot be read is left alone and told. */
  list(): ProcessRecord[];
}

/** Keeps records in a folder. They are read without the daemon too: to end everything when it hangs. */
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
