import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replacePrivateFile } from '../private-file.ts';

/** The last run of `setup` in a workspace. */
export const SetupRecord = z.object({
  command: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  endedAt: z.number().optional(),
  /** Why it failed. */
  why: z.string().optional(),
  /** The files, relative to the workspace, whose change makes it run again. */
  reads: z.array(z.string()),
  /** The files that it changed and that git does not ignore. */
  wrote: z.array(z.string()),
  /** What the workspace held before: the save, its base, and whether the member had changed nothing. */
  before: z.object({ commit: z.string(), base: z.string(), isClean: z.boolean() }),
  /** The save after it. */
  after: z.string().optional(),
  /** What it printed. */
  output: z.string(),
});
export type SetupRecord = z.output<typeof SetupRecord>;

/** Reads the record beside the index of a workspace; undefined if there is none that can be read. */
export function readSetup(about: string): SetupRecord | undefined {
  try {
    return SetupRecord.parse(JSON.parse(readFileSync(join(about, 'setup.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Replaces the record. */
export function writeSetup(about: string, record: SetupRecord): void {
  replacePrivateFile(join(about, 'setup.json'), JSON.stringify(record));
}
