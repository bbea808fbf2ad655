/** Each has a contrast of at least 4.5 to white letters. */
const COLORS: Readonly<Record<string, string>> = {
  blue: '#3d52b8',
  green: '#08705a',
  yellow: '#7d6112',
  purple: '#7a3f96',
  orange: '#a1501f',
  pink: '#9c3f74',
  cyan: '#13687f',
  red: '#ad3232',
};
const LEAD = '#39434f';

/** A member's one or two initials in its colour. The name is beside it if there is space. */
export function Avatar({ name, color, size = 20 }: { name: string; color?: string | undefined; size?: number }) {
  const background = name.startsWith('@') ? LEAD : (COLORS[color ?? ''] ?? LEAD);
  return (
    <span className="avatar" style={{ width: size, height: size, background, fontSize: size * 0.44 }} aria-hidden>
      {initialsOf(name)}
    </span>
  );
}

/** Initials come from the displayed name. */
const CALLED: Readonly<Record<string, string>> = { '@user': 'you', '@system': 'Troupe' };

/**
 * The first letter of a name. A name in several parts gets two characters, since similar members differ at the end:
 * fixer-a and fixer-b, or worker-1 and worker-12, where the number says more.
 */
function initialsOf(name: string): string {
  const parts = (CALLED[name] ?? name).split(/[-_. ]+/).filter((part) => part !== '');
  const [first = '?', ...others] = parts;
  const last = others.at(-1);
  if (last === undefined) return firstOf(first);
  return /^\d{2,}$/.test(last) ? last.slice(-2) : firstOf(first) + firstOf(last);
}

function firstOf(part: string): string {
  return String.fromCodePoint(part.codePointAt(0) ?? 63);
}
