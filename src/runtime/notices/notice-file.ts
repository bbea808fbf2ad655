import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { Notice, NoticeMessage } from '../../core/notice.ts';
import { replacePrivateFile } from '../private-file.ts';
import { Channel } from './settings.ts';

const TeamNotices = z.object({
  /** The last version of each subject that was told. */
  told: z.record(z.string(), z.string()),
  /** Collected, not sent yet. */
  waiting: z.array(Notice),
  /** A message on its way, and the channels that have not got it. */
  sending: z.object({ message: NoticeMessage, left: z.array(Channel) }).optional(),
  /** When a message was last sent, in milliseconds since 1970. */
  sentAt: z.number(),
});
/** What is known about the notices of a team. */
export type TeamNotices = z.output<typeof TeamNotices>;

const NoticeFile = z.record(z.string(), TeamNotices);

/** Remembers in a file of the state directory what was told and what waits, so that a restart repeats and loses nothing. */
export function openNoticeFile(path: string) {
  const teams = read(path);
  const isNew = teams === undefined;
  const entries = new Map(Object.entries(teams ?? {}));
  return {
    /** Whether no daemon has sent notices from this state directory before. */
    isNew,
    entries,
    save(): void {
      replacePrivateFile(path, JSON.stringify(Object.fromEntries(entries)));
    },
  };
}

/** Forgets everything. When notices are switched on again, nobody wants to hear of what happened before. */
export function removeNoticeFile(path: string): void {
  rmSync(path, { force: true });
}

/** What the file has; nothing if it is missing or damaged. */
function read(path: string): Record<string, TeamNotices> | undefined {
  try {
    return NoticeFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}
