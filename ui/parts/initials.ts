/** Initials come from the displayed name. */
const CALLED: Readonly<Record<string, string>> = { '@user': 'you', '@system': 'Troupe' };

/**
 * The first letter of a name. A name in several parts gets two characters, since similar members differ at the end:
 * fixer-a and fixer-b, or worker-1 and worker-12, where the number says more.
 */
export function initialsOf(name: string): string {
  const parts = (CALLED[name] ?? name).split(/[-_. ]+/).filter((part) => part !== '');
  const [first = '?', ...others] = parts;
  const last = others.at(-1);
  if (last === undefined) return firstOf(first);
  return /^\d{2,}$/.test(last) ? last.slice(-2) : firstOf(first) + firstOf(last);
}

function firstOf(part: string): string {
  return String.fromCodePoint(part.codePointAt(0) ?? 63);
}
