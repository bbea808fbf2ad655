import { z } from 'zod';
import { CHOSEN_TASK_ID, ID_LENGTH, LINE_LENGTH, NAME_LENGTH } from './limits.ts';
import { byteLength, quote } from './text.ts';

/** A text with a limit in bytes. */
export function textOf(maxBytes: number) {
  return z.string().refine((text) => text.length * 3 <= maxBytes || byteLength(text) <= maxBytes, {
    error: `is longer than ${maxBytes} bytes: put it in a file and name the file`,
  });
}

/** What a line may hold: no line breaks of any kind and no control characters; tabs are fine. */
// oxlint-disable-next-line no-control-regex -- these are what it is for
const ONE_LINE = /^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]*$/;

/** One line of at most `length` characters. */
export function lineOf(length: number) {
  return z.string().max(length).regex(ONE_LINE, 'must be one line, without control characters');
}

/** One short line. */
export const Line = lineOf(LINE_LENGTH);

/** The labels of a daemon, or those that a member requires of one. */
export const Labels = z.array(Line.min(1, 'a label is empty')).max(16);

const SLUG = new RegExp(`^[a-z0-9](?:[a-z0-9_-]{0,${NAME_LENGTH - 2}}[a-z0-9])?$`);

/**
 * Slugs that cannot be names: they are reserved by Troupe, by Windows' file system, or by JavaScript objects that may
 * be keyed by name.
 */
const RESERVED = new Set(
  (
    'all everyone user system me self none null undefined true false constructor prototype ' +
    'con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9'
  ).split(' '),
);

/** Whether a text can name a team or a member. */
export function isSlug(text: string): boolean {
  return SLUG.test(text) && !RESERVED.has(text);
}

/** The nearest valid name, for defaults. */
export function suggestSlug(text: string): string {
  return nearestSlug(text) ?? 'worker-1';
}

/** The nearest valid name; undefined if no character of the text could be in one. */
function nearestSlug(text: string): string | undefined {
  const slug = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9_]+/g, '-')
    .slice(0, NAME_LENGTH)
    .replace(/^[-_]+|[-_]+$/g, '');
  if (isSlug(slug)) return slug;
  return slug ? `${slug.slice(0, NAME_LENGTH - 2)}-1` : undefined;
}

/** For editors and generated clients, which know JSON Schema but not our code. */
const SLUG_SCHEMA = { pattern: SLUG.source, not: { enum: [...RESERVED] } };

/** The name of a team or a member: safe as a file name, an argument, a pane title or an object key. */
export const Slug = z
  .string()
  .superRefine((text, context) => {
    if (isSlug(text)) return;
    const why = RESERVED.has(text) ? 'is a reserved word' : 'is not a name (a-z, 0-9, - and _ inside, at most 64)';
    // The name may be for a team or a member.
    const near = quote(nearestSlug(text) ?? 'name-1');
    context.addIssue({ code: 'custom', message: `${quote(text)} ${why}; try ${near}` });
  })
  .meta(SLUG_SCHEMA);
export type Slug = z.infer<typeof Slug>;

/** A task's id: a decimal string, never reused within its team. */
export const TaskId = z.string().regex(/^[1-9][0-9]{0,14}$/, 'is not a task id (a whole number such as "7")');
export type TaskId = z.infer<typeof TaskId>;

/** Whether a caller may choose this text as a task's id. */
export function isChosenTaskId(text: string): boolean {
  return /^[1-9][0-9]{0,14}$/.test(text) && Number(text) <= CHOSEN_TASK_ID;
}

const CHOSEN_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]*$/;

/** An id chosen by its maker. `/` is not allowed: ids of broadcast copies use it. */
export const ChosenId = z.string().min(1).max(ID_LENGTH).regex(CHOSEN_ID, 'must be letters, digits and . _ : @ -');
export type ChosenId = z.infer<typeof ChosenId>;

/** Whether a text is a `ChosenId`; ten times as fast as the schema, which says what is wrong. */
export function isChosenId(text: string): boolean {
  return text.length <= ID_LENGTH && CHOSEN_ID.test(text);
}
