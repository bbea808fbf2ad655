/** Under white letters each has a contrast of at least 4.5. */
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
/** By the name that stands beside it. */
const CALLED: Readonly<Record<string, string>> = { '@user': 'you', '@system': 'Troupe' };

/** A member at a glance: its letter in its colour. The name stands beside it wherever it is shown. */
export function Avatar({ name, color, size = 20 }: { name: string; color?: string | undefined; size?: number }) {
  const background = name.startsWith('@') ? LEAD : (COLORS[color ?? ''] ?? LEAD);
  const letter = String.fromCodePoint((CALLED[name] ?? name).codePointAt(0) ?? 63);
  return (
    <span className="avatar" style={{ width: size, height: size, background, fontSize: size * 0.44 }} aria-hidden>
      {letter}
    </span>
  );
}
