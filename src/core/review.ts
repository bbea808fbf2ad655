import { z } from 'zod';
import { TeamError } from './errors.ts';
import { TaskId, textOf } from './fields.ts';
import { COMMENT_BYTES, COMMENTS_PER_REVIEW, RESULT_BYTES } from './limits.ts';
import { parse } from './parse.ts';
import { quote, shorten } from './text.ts';

/** The longest path that Linux takes. */
const PATH_LENGTH = 4_096;

/** What a reviewer says about one line of a work. */
export const ReviewComment = z.strictObject({
  // Any name that git knows: one with a line break must not make a whole review fail.
  path: z.string().min(1).max(PATH_LENGTH).describe('the file'),
  line: z.number().int().min(1).describe('the line, in the work as it was handed in'),
  side: z.enum(['old', 'new']).optional().describe('old: the line is one that the work removed'),
  text: textOf(COMMENT_BYTES).describe('the comment'),
});
export type ReviewComment = z.output<typeof ReviewComment>;

export const ReviewComments = z.array(ReviewComment).max(COMMENTS_PER_REVIEW);

/** As people and agents write comments: `path:line: text`, or `path:-line: text` for a line that the work removed. */
export const WrittenComments = z.array(z.union([ReviewComment, z.string()])).max(COMMENTS_PER_REVIEW);

const WRITTEN = /^(?<path>.+?):(?<old>-)?(?<line>[1-9]\d*):\s*(?<text>[^]+)$/;

/** Reads a comment that is written as a text. */
export function readComment(written: string | ReviewComment): ReviewComment {
  if (typeof written !== 'string') return written;
  const { path, old, line, text } = WRITTEN.exec(written)?.groups ?? {};
  if (path === undefined) {
    throw new TeamError('invalid', `${quote(shorten(written, 80))} is no comment: write src/a.ts:12: text`);
  }
  const side = old === undefined ? {} : { side: 'old' as const };
  return parse(ReviewComment, { path, line: Number(line), ...side, text });
}

/** A reviewer may name a commit by its beginning, as git shows it. */
export const ReviewedCommit = z.string().regex(/^[0-9a-f]{7,64}$/, 'is not the id of a commit, or its first 7 letters');

/** The verdict of a reviewer. It is about one commit. */
export const ReviewWorkInput = z.strictObject({
  taskId: TaskId.describe('the task'),
  commit: ReviewedCommit.describe('the work that you looked at'),
  approve: z.boolean().describe('yes: it lands; no: it goes back to its holder'),
  summary: textOf(RESULT_BYTES).optional().describe('what you say about the whole work'),
  comments: ReviewComments.optional().describe('what you say about single lines'),
});
export type ReviewWorkInput = z.output<typeof ReviewWorkInput>;
