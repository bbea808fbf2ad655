import { z } from 'zod';
import { Actor } from './actor.ts';
import { NOTE_BYTES } from './limits.ts';
import { Line, Slug, TaskId, textOf } from './text.ts';
import { Timestamp } from './time.ts';

/** One entry of the team's scratchpad. Entries are separate records, so that writers never lose each other's lines. */
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

/** Writes an entry. */
export const AddNoteInput = z.strictObject({ text: NoteText, tags: Tags.default([]) });
export type AddNoteInput = z.output<typeof AddNoteInput>;

/** Changes an entry; with `revision`, only if nobody else did since. */
export const UpdateNoteInput = z.strictObject({
  noteId: TaskId,
  text: NoteText.optional(),
  tags: Tags.optional(),
  revision: z.number().int().optional(),
});
export type UpdateNoteInput = z.output<typeof UpdateNoteInput>;

/** Takes an entry out. */
export const RemoveNoteInput = z.strictObject({ noteId: TaskId });
export type RemoveNoteInput = z.output<typeof RemoveNoteInput>;
