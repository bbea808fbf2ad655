import type { z } from 'zod';
import { TeamError } from './errors.ts';
import { printable, shorten } from './text.ts';

/** Parses what comes from outside; a `TeamError` says which field is wrong and why. */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map((issue) => {
    const path = issue.path.map(String).join('.');
    // Keys that the caller chose stand in it.
    return printable(shorten(path ? `${path}: ${issue.message}` : issue.message, 1000));
  });
  throw new TeamError('invalid', problems.join('; '));
}
