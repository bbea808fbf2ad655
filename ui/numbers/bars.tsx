import { Avatar } from '../parts/avatar.tsx';
import { Link } from '../parts/link.tsx';

/** One bar: its label, its parts, and the figures in words. */
export interface BarRow {
  readonly key: string;
  readonly label: string;
  readonly color?: string | undefined;
  readonly href: string;
  readonly parts: readonly { readonly size: number; readonly color: string }[];
  readonly text: string;
}

/** Bars on one scale, each with its figures beside it. */
export function Bars({ rows }: { rows: readonly BarRow[] }) {
  if (rows.length === 0) return <p className="quiet">Nothing yet.</p>;
  const most = Math.max(1, ...rows.map(({ parts }) => parts.reduce((sum, { size }) => sum + size, 0)));
  return (
    <ul className="bar-rows">
      {rows.map(({ key, label, color, href, parts, text }) => (
        <li key={key} className="bar-row">
          <Link href={href} className="row">
            {!label.startsWith('#') && <Avatar name={label} color={color} size={18} />}
            <span className="one-line">{label}</span>
          </Link>
          <span className="bar" aria-hidden>
            {parts.map(({ size, color }) => (
              <span key={color} style={{ width: `${(100 * size) / most}%`, background: color }} />
            ))}
          </span>
          <span className="bar-text">{text}</span>
        </li>
      ))}
    </ul>
  );
}
