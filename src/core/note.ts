import { z } from 'zod';
import { Actor } from './actor.ts';
import { Line, Slug, TaskId, textOf } from './fields.ts';
import { NOTE_BYTES } from './limits.ts';
import { Timestamp } from './time.ts';

/** One entry of the team's scratchpad. Entries are separate records, so that writers never overwrite each other. */
export const TeamNote = z.object({
  id: TaskId,
  teamId: Slug,
  authorId: Actor,
  text: z.string(),
  tags: z.array(Line),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  revision: z.number().int(),
});
export type TeamNote = z.output<typeof TeamNote>;

const Tags = z.array(Line).max(16);
const NoteText = textOf(NOTE_BYTES).refine((text) => text.length > 0, 'must not be empty');

/** Adds an entry. */
export const AddNoteInput = z.strictObject({
  text: NoteText.describe('the text'),
  tags: Tags.default([]).describe('tags'),
});
export type AddNoteInput = z.output<typeof AddNoteInput>;

/** Changes an entry; with `revision`, only if it has not changed since. */
export const UpdateNoteInput = z.strictObject({
  noteId: TaskId.describe('the note'),
  text: NoteText.optional().describe('the text'),
  tags: Tags.optional().describe('tags'),
  revision: z.number().int().optional().describe('refuse if it changed since this revision'),
});
export type UpdateNoteInput = z.output<typeof UpdateNoteInput>;

/** Removes an entry. */
export const RemoveNoteInput = z.strictObject({ noteId: TaskId.describe('the note') });
export type RemoveNoteInput = z.output<typeof RemoveNoteInput>;

/** The data of each event about a note. */
export const NOTE_EVENT_DATA = {
  'note:added': z.object({ noteId: z.string(), text: z.string(), tags: z.array(z.string()) }),
  'note:updated': z.object({
    noteId: z.string(),
    text: z.string().optional(),
    tags: z.array(z.string()).optional(),
  }),
  'note:removed': z.object({ noteId: z.string() }),
} as const;
