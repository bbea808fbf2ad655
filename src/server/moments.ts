/** Moments whose texts are kept: a commit shares its moment, and what was made together is asked for together. */
const KEPT = 1_000;

const texts = new Map<number, string>();

/**
 * The same as JSON will have it, with its own moments written down, or with those of its items if it is a list.
 * `JSON.stringify` goes back to JavaScript for every `Date` it meets: a task with three takes 9 us, and 3 this way. Those
 * further inside are left to it.
 */
export function writeMoments(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(writeOwn);
  return writeOwn(value);
}

function writeOwn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const copy = { ...value } as Record<string, unknown>;
  for (const key in copy) {
    const field = copy[key];
    if (field instanceof Date) copy[key] = textOf(field);
  }
  return copy;
}

function textOf(moment: Date): string {
  const time = moment.getTime();
  const known = texts.get(time);
  if (known !== undefined) return known;
  const text = moment.toJSON();
  if (texts.size >= KEPT) texts.clear();
  texts.set(time, text);
  return text;
}
