import { appendEntry } from '../inbox-file.ts';
import type { NewEntry } from '../inbox-file.ts';
import { isSafeName } from '../layout.ts';
import { uuidOf } from './names.ts';
import type { MirrorParts } from './parts.ts';

/** Lines of our own to native members. */
export interface Lines {
  /** Writes one; the same matter is told once. What cannot be written now is written later. */
  tell(to: string, text: string, matter: string): Promise<void>;
  /** Writes what could not be written before. */
  retry(): Promise<void>;
}

/** Begins with nothing told. */
export function writeLines({ paths, teamId, leadName, step, times }: MirrorParts): Lines {
  const told = new Set<string>();
  const untold = new Map<string, { to: string; entry: NewEntry }>();
  const retry = async (): Promise<void> => {
    for (const [matter, { to, entry }] of untold) {
      await step(`line to ${to} about ${matter}`, async () => {
        await appendEntry(paths, to, entry, times.files);
        untold.delete(matter);
      });
    }
  };
  return {
    async tell(to, text, matter) {
      if (told.has(matter)) return;
      told.add(matter);
      const timestamp = new Date().toISOString();
      const entry = { from: 'troupe', text, timestamp, id: uuidOf(`${teamId}-${matter}-${timestamp}`) };
      // Who has a name that can be none has no inbox; the lead hears of it instead.
      untold.set(matter, { to: isSafeName(to) ? to : leadName(), entry });
      await retry();
    },
    retry,
  };
}
