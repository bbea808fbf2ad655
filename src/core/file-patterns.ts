/*
 * Whether two lists of file patterns can match the same path. `*` stands for a part of one name, `**` for any folders,
 * and a path without either for that file, or that folder with everything in it. The packages that decide this are not
 * maintained, and none bounds its cost. No schema is loaded here: every claim comes along.
 */

/** A part of a path: a name, and its parts between the stars if it has any. */
interface Part {
  readonly text: string;
  readonly runs: readonly string[] | undefined;
}

/** What is between the `**` of a pattern. One run: it has none. */
type Runs = readonly (readonly Part[])[];

/** Arrays of patterns are never changed, so each is read once. */
const read = new WeakMap<readonly string[], readonly Runs[]>();

/**
 * How many names two lists may compare. Lists of people need a few dozen. Beyond this they count as meeting: then a task
 * waits longer, and a claim in a team of 10,000 tasks stays fast whatever a member writes.
 */
const COMPARISONS = 2_000;

/** Whether a path can match a pattern of both lists. */
export function filesMeet(ours: readonly string[], theirs: readonly string[]): boolean {
  const fits = boundedly();
  const others = readAll(theirs);
  return readAll(ours).some((one) => others.some((other) => runsMeet(one, other, fits)));
}

/** Whether a pattern matches this very file. */
export function fileMatches(path: string, patterns: readonly string[]): boolean {
  const fits = boundedly();
  // A star in the name of a file is only a star.
  const file: Runs = [path.split('/').map((text) => ({ text, runs: undefined }))];
  return readAll(patterns).some((pattern) => runsMeet(pattern, file, fits));
}

/** Compares names, and says yes to all beyond the bound. */
function boundedly(): (a: Part, b: Part) => boolean {
  let left = COMPARISONS;
  return (a, b) => --left < 0 || namesMeet(a, b);
}

function readAll(patterns: readonly string[]): readonly Runs[] {
  let known = read.get(patterns);
  if (!known) read.set(patterns, (known = patterns.map(readPattern)));
  return known;
}

function readPattern(pattern: string): Runs {
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.');
  if (!pattern.includes('*')) names.push('**');
  // What is in a folder, and not the folder itself.
  else if (names.at(-1) === '**') names.push('*');
  const runs: Part[][] = [[]];
  for (const text of names) {
    if (text === '**') runs.push([]);
    else runs.at(-1)?.push({ text, runs: text.includes('*') ? text.split('*') : undefined });
  }
  return runs;
}

function namesMeet(a: Part, b: Part): boolean {
  if (!a.runs && !b.runs) return a.text === b.text;
  return runsMeet(a.runs ?? [a.text], b.runs ?? [b.text], isSame);
}

const isSame = (a: string, b: string): boolean => a === b;

/** Anything with a length and places: the letters of a name, the names of a path. */
interface Sequence<T> {
  readonly length: number;
  readonly [place: number]: T;
}

/**
 * Whether something matches both. Between two runs anything may stand. If both sides have such gaps, only their
 * beginnings and their ends can contradict each other: all else fits into the gaps. If one has none, the runs of the
 * other are looked for in it, each as early as possible.
 */
function runsMeet<T>(
  a: readonly Sequence<T>[],
  b: readonly Sequence<T>[],
  fits: (one: T, other: T) => boolean,
): boolean {
  const whole = b[0] as Sequence<T>;
  const first = a[0] as Sequence<T>;
  const last = a.at(-1) as Sequence<T>;
  if (b.length > 1) {
    if (a.length === 1) return runsMeet(b, a, fits);
    const ending = b.at(-1) as Sequence<T>;
    const start = Math.min(first.length, whole.length);
    const end = Math.min(last.length, ending.length);
    return (
      fitsAt(first, whole, { at: 0, count: start }, fits) &&
      fitsAt(last, ending, { from: last.length - end, at: ending.length - end, count: end }, fits)
    );
  }
  if (a.length === 1) {
    return first.length === whole.length && fitsAt(first, whole, { at: 0, count: first.length }, fits);
  }
  const end = whole.length - last.length;
  let at = first.length;
  if (at > end) return false;
  if (!fitsAt(first, whole, { at: 0, count: first.length }, fits)) return false;
  if (!fitsAt(last, whole, { at: end, count: last.length }, fits)) return false;
  for (const run of a.slice(1, -1)) {
    while (at + run.length <= end && !fitsAt(run, whole, { at, count: run.length }, fits)) at++;
    at += run.length;
    if (at > end) return false;
  }
  return true;
}

/** Whether `count` items of a run, from `from`, fit those of another sequence from `at`. */
function fitsAt<T>(
  run: Sequence<T>,
  other: Sequence<T>,
  { from = 0, at, count }: { from?: number; at: number; count: number },
  fits: (one: T, other: T) => boolean,
): boolean {
  for (let i = 0; i < count; i++) if (!fits(run[from + i] as T, other[at + i] as T)) return false;
  return true;
}

/** What is wrong with a pattern, as text that follows it; undefined if nothing is. */
export function wrongPattern(pattern: string): string | undefined {
  if (pattern.startsWith('/') || /^[a-z]:/i.test(pattern)) return 'must be relative to the project';
  if (pattern.split('/').includes('..')) return 'must not leave the project';
  if (/[{}?]/.test(pattern) || pattern.startsWith('!')) {
    return 'has wildcards other than * and **: write one pattern for each';
  }
  return undefined;
}
