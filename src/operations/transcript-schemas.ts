import { z } from 'zod';
import { Slug } from '../core/fields.ts';
import { Entry } from '../runtime/transcripts/page.ts';
import { InTeam, Wait } from './inputs.ts';

const Place = z.number().int().min(0);
const Session = z.string().regex(/^[A-Za-z0-9._-]+$/);

const OfMember = InTeam.extend({ memberId: Slug.describe('the member') });

/** Which part of a member's transcript to read. */
export const TranscriptPart = OfMember.extend({
  session: Session.optional().describe('the session (default: the newest)'),
  after: Place.default(0).describe('the place where the last answer ended'),
  before: Place.optional().describe('the place where the last answer began: returns the page before it'),
  since: Place.optional().describe('from the first entry on that is not older, in milliseconds since 1970'),
  tail: z.boolean().default(false).describe('only the last page'),
  ...Wait,
});
export type TranscriptPart = z.output<typeof TranscriptPart>;

/** A page of a transcript. */
export const TranscriptPage = z.object({
  session: z.string().nullable(),
  from: Place.optional().describe('the place where this page begins'),
  after: Place.describe('the place where this page ends'),
  size: Place.optional().describe('the place where the session ends'),
  entries: z.array(Entry).describe('each with its place; cut names the texts whose middle is missing'),
  earlier: z.array(z.string()).optional().describe('earlier sessions, oldest first'),
  later: z.array(z.string()).optional().describe('later sessions, oldest first'),
});
export type TranscriptPage = z.output<typeof TranscriptPage>;

/** What to find in the transcripts of a member. */
export const TranscriptSearch = OfMember.extend({
  text: z.string().min(1).max(1_000).describe('what to find, whatever its case'),
  session: Session.optional().describe('the session to begin with (default: the oldest)'),
  after: Place.default(0).describe('the place where the last search ended'),
  since: Place.optional().describe('leave out what is older, in milliseconds since 1970'),
  until: Place.optional().describe('leave out what is younger, in milliseconds since 1970'),
});
export type TranscriptSearch = z.output<typeof TranscriptSearch>;

/** What was found, oldest first. */
export const TranscriptHits = z.object({
  hits: z.array(
    z.object({
      session: z.string(),
      place: Place.describe('the place of its entry'),
      at: z.number(),
      type: z.string(),
      before: z.string(),
      match: z.string(),
      after: z.string(),
    }),
  ),
  next: z.object({ session: z.string(), after: Place }).optional().describe('where to search on; unset at the end'),
});
export type TranscriptHits = z.output<typeof TranscriptHits>;

/** A text of an entry, and the part of it that is wanted. */
export const WantedText = {
  place: Place.describe('the place of the entry'),
  path: z.string().min(1).max(1_000).describe('the field, such as text or input.content'),
  from: Place.default(0).describe('the first character'),
};

/** A text of an entry of a transcript. */
export const TranscriptText = OfMember.extend({ session: Session.describe('the session'), ...WantedText });
export type TranscriptText = z.output<typeof TranscriptText>;

/** A part of a long text. */
export const TextPart = z.object({
  text: z.string(),
  from: Place,
  chars: Place.describe('how many characters the whole text has'),
});
export type TextPart = z.output<typeof TextPart>;
