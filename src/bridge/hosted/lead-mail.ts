import { entryKeys } from '../differences.ts';
import { textOfEntry } from '../format.ts';
import { inboxOf, takeEntries } from '../inbox-file.ts';
import { readNow } from '../json-file.ts';
import { NATIVE_LEAD } from '../layout.ts';
import type { NativePaths } from '../layout.ts';
import { readProtocol } from '../protocol.ts';
import type { Protocol } from '../protocol.ts';

/** A protocol message from a member to its lead, and its time. */
export interface Notice {
  readonly at: number;
  readonly protocol: Protocol;
}

/** One member's protocol messages in the lead's inbox. The bridge carries its texts. */
export interface LeadMail {
  /** The messages since the last look. */
  look(): Notice[];
  /** Removes the messages already read from the inbox, once there are `TIDY_AFTER`. */
  tidy(): Promise<void>;
}

/**
 * The oldest version loses messages that it sends while the inbox is locked. So we lock it only to tidy up, once in
 * this many notices, and never to read.
 */
const TIDY_AFTER = 50;

/** Reads the protocol messages that a member sends from now on. */
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
        // Only we read this inbox.
        { era: 'removes-read' },
      );
    },
  };
}
