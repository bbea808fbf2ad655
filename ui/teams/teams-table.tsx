import type { ComponentProps, ReactNode } from 'react';
import { navigate } from '../data/route.ts';
import { showControls } from '../parts/controls.ts';
import { showAgo, showMoment, useNow } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { ProgressBar } from '../parts/progress-bar.tsx';

/** Teams as rows; `figures` are the columns that only some tables have, with their CSS class. */
export function TeamsTable({
  label,
  className = '',
  figures,
  children,
}: {
  label: string;
  className?: string;
  figures: readonly (readonly [name: string, className: string])[];
  children: ReactNode;
}) {
  return (
    <table className={`teams ${className}`} aria-label={label}>
      <thead>
        <tr>
          <th>Team</th>
          <th>Progress</th>
          <th className="number">Members</th>
          {figures.map(([name, className]) => (
            <th key={name} className={className}>
              {name}
            </th>
          ))}
          <th className="number wide">Last activity</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** A team as a row: its name with remarks, progress, members, figures, and since when. */
export function TeamsRow({
  href,
  name,
  depth = 0,
  marks,
  words,
  done,
  of,
  counts,
  members,
  figures,
  activeAt,
}: {
  href: string;
  name: string;
  /** How many teams are around it. */
  depth?: number;
  marks: ReactNode;
  words: ReactNode;
  done: number;
  members: number;
  figures: ReactNode;
  activeAt: string | undefined;
} & Pick<ComponentProps<typeof ProgressBar>, 'counts' | 'of'>) {
  return (
    <tr onClick={(event) => !(event.target instanceof HTMLAnchorElement) && navigate(href)}>
      <td
        className="teams-name"
        style={depth > 0 ? { paddingLeft: `calc(var(--s4) + ${depth} * var(--s5))` } : undefined}
      >
        <span className="row">
          <Link href={href} className="one-line">
            {showControls(name)}
          </Link>
          {marks}
        </span>
        {words && <span className="meta two-lines">{words}</span>}
      </td>
      <td>
        <span className="row">
          <ProgressBar counts={counts} of={of} />
          <span className="teams-count">
            {of === 0 ? (
              <span className="quiet">no task</span>
            ) : (
              <>
                <b>{done}</b> <span className="quiet">of {of}</span>
              </>
            )}
          </span>
        </span>
      </td>
      <td className="number">
        {members} <span className="narrow-word">{members === 1 ? 'member' : 'members'}</span>
      </td>
      {figures}
      {activeAt === undefined ? (
        <td className="wide" />
      ) : (
        <td className="number wide quiet" title={showMoment(new Date(activeAt))}>
          <Ago at={Date.parse(activeAt)} />
        </td>
      )}
    </tr>
  );
}

function Ago({ at }: { at: number }) {
  return <>{showAgo(at, useNow())}</>;
}
