import { z } from 'zod';
import { findInCommand, findInVariable, findInWords } from '../../core/secret.ts';
import { parseTime } from '../../core/typed-time.ts';

/** A length of time: `10s`, `2m`, `500ms`. A number alone is refused: people mean seconds, minutes or hours. */
export const Duration = z
  .string('needs a unit: ms, s, m or h, such as "30s" or "30m"')
  .regex(/^0*[1-9]\d*(ms|s|m|h)$/, 'must be a duration above 0, such as "10s" or "2m"');

/** An amount of data: `50MB`. */
export const Size = z
  .string('needs a unit: KB, MB or GB, such as "50MB"')
  .regex(/^0*[1-9]\d{0,5}(KB|MB|GB)$/, 'must be a size above 0, such as "50MB"');

/** Refuses a text of the file that contains a secret. */
export const withoutSecret = <T extends z.ZodType<string>>(text: T): T =>
  text.superRefine((value, context) => {
    const problem = findInCommand(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

/** The words of a command; refuses secrets among them. */
export const Words = z.array(z.string()).superRefine((words, context) => {
  for (const { at, problem } of findInWords(words)) {
    context.addIssue({ code: 'custom', path: [at], message: problem });
  }
});

/** A shell command, or a program and its arguments. */
export const Command = z.union([withoutSecret(z.string().min(1)), Words.min(1)]);

/** Variables by name; refuses secrets among their values. */
export const Variables = z.record(z.string(), z.string()).superRefine((env, context) => {
  for (const [name, value] of Object.entries(env)) {
    const problem = findInVariable(name, value);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem });
  }
});

/** A size in bytes. */
export function bytesOf(size: z.output<typeof Size>): number {
  const [, amount = '0', unit = 'KB'] = /^(\d+)(KB|MB|GB)$/.exec(size) ?? [];
  return Number(amount) * 1024 ** ({ KB: 1, MB: 2, GB: 3 }[unit] ?? 1);
}

/** A duration in milliseconds. */
export function milliseconds(duration: z.output<typeof Duration>): number {
  return parseTime(duration) ?? 0;
}
