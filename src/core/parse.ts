import type { z } from 'zod';
import { TeamError } from './errors.ts';
import { printable, quote, shorten } from './text.ts';

/** Longer descriptions of a problem are cut: they contain keys that the caller chose. */
const MESSAGE_LENGTH = 1000;

/** Parses foreign input; the `TeamError` says which field is wrong and why. */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map((issue) => {
    const field = cut(issue.path.map(String).join('.'));
    return { field, problem: cut(wordsFor(issue, field === '' ? 'The input ' : '')) };
  });
  const lines = problems.map(({ field, problem }) => (field === '' ? problem : `${field}: ${problem}`));
  throw new TeamError('invalid', lines.join('; '), { facts: { problems } });
}

function cut(text: string): string {
  return printable(shorten(text, MESSAGE_LENGTH));
}

/** The unit of a limit: characters or entries. */
export function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}

const DEFAULT_TEXT = /^Invalid input: expected \w+, received \w+$|^Too (?:big|small): expected /;

/** The problem as text: the schema's own text if it has one, else ours. The library's texts are for programmers. */
function wordsFor(issue: z.core.$ZodIssue, subject = ''): string {
  if (issue.code === 'unrecognized_keys') {
    // Enough to fill the message: a megabyte can hold 80,000 keys.
    const keys = issue.keys
      .slice(0, MESSAGE_LENGTH / 4)
      .map((key) => quote(key))
      .join(', ');
    return `${subject === '' ? 'it ' : subject}has no key ${keys}`;
  }
  // A key of a map: its own problem, not what the map should be.
  if (issue.code === 'invalid_key') return issue.issues.map((one) => wordsFor(one)).join('; ');
  if (isWorded(issue)) return issue.message;
  if (issue.code === 'too_big') return `${subject}must be at most ${issue.maximum}${unitOf(issue.origin)}`;
  if (issue.code === 'too_small') return `${subject}must be ${boundOf(issue)}${unitOf(issue.origin)}`;
  // What is left: expected TYPE, received TYPE.
  const [, expected = '', received = ''] = issue.message.split(/expected |, received /);
  if (received === 'undefined') return `${subject}is missing: it must be ${kindOf(expected)}`;
  const what = `${subject}must be ${kindOf(expected)}`;
  return expected === 'int' && received === 'number' ? what : `${what}, not ${kindOf(received)}`;
}

/** The lower limit of a value: `at least 1`, or `more than 0` if the limit itself is too little. */
export function boundOf({ minimum, inclusive }: { minimum: number | bigint; inclusive?: boolean | undefined }): string {
  return inclusive === false ? `more than ${minimum}` : `at least ${minimum}`;
}

/** Whether the schema has a text of its own for the problem. */
export function isWorded({ message }: { readonly message: string }): boolean {
  return !DEFAULT_TEXT.test(message);
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function kindOf(type: string): string {
  return KINDS[type] ?? type;
}
