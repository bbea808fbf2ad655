import { entryKeys } from '../differences.ts';
import { textOfEntry } from '../format.ts';
import { inboxOf, takeEntries } from '../inbox-file.ts';
import { readNow } from '../json-file.ts';
import { NATIVE_LEAD } from '../layout.ts';
import type { NativePaths } from '../layout.ts';
import { readProtocol } from '../protocol.ts';
import type { Protocol } from '../protocol.ts';

/** Something that a member told its lead in the program's own words, and when. */
export interface Notice {
  readonly at: number;
  readonly protocol: Protocol;
}

/** The lead's inbox, as far as one member writes protocol into it; what it writes as text is the bridge's to carry. */
export interface LeadMail {
  /** What it told since the last look. */
  look(): Notice[];
  /** Takes what was looked at out of the inbox, when that has become much. */
  tidy(): Promise<void>;
}

/**
 * The oldest version loses what it sends while the inbox is locked: it is locked to tidy up once in so many notices, and never to
 * read.
 */
const TIDY_AFTER = 50;

/** Reads what a member tells from now on. */
export function readLeadMail(paths: NativePaths, member: string, since = Date.now()): LeadMail {
  const path = paths.inbox(NATIVE_LEAD);
  const seen = new Set<string>();
  let print = '';
  let untidy = 0;
  const isOwn = (from: string, text: string): boolean => from === member && readProtocol(text) !== undefined;
  return {
    look() {
      const reading = readNow(path);
      if (reading.kind !== 'read' || reading.print === print) return [];
      const inbox = inboxOf(reading);
      if (inbox.kind !== 'read') return [];
      print = reading.print;
      const notices: Notice[] = [];
      for (const [key, entry] of entryKeys(inbox.entries)) {
        const at = Date.parse(entry.timestamp);
        if (seen.has(key) || entry.read === true || entry.from !== member || !(at >= since)) continue;
        const protocol = readProtocol(textOfEntry(entry));
        if (!protocol) continue;
        seen.add(key);
        untidy++;
        notices.push({ at, protocol });
      }
      return notices;
    },
    async tidy() {
      if (untidy < TIDY_AFTER) return;
      untidy = 0;
      await takeEntries(
        path,
        (entry) => isOwn(entry.from, textOfEntry(entry)) && [...entryKeys([entry]).keys()].some((key) => seen.has(key)),
        // Nobody but us reads this inbox.
        { era: 'removes-read' },
      );
    },
  };
}
