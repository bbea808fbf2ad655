import { initialsOf } from './initials.ts';

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
