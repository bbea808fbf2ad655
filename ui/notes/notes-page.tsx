import { NotebookText } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { notePath } from '../data/links.ts';
import { teamPath, useQuery } from '../data/route.ts';
import { useTeam } from '../data/use-team.tsx';
import { showControls } from '../parts/controls.ts';
import { CopyLink } from '../parts/copy-link.tsx';
import { showMoment, showTime } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { FailedTeam } from '../team/failed-team.tsx';
import './notes.css';

/** What the members of a team wrote down for each other, the newest first. A team has at most a few hundred notes. */
export function NotesPage({ teamId }: { teamId: string }) {
  const phase = useTeam(({ phase }) => phase);
  const version = useTeam(({ version }) => version);
  const notes = useTeam(({ view }) => view.state.notes);
  const [query] = useQuery();
  const wanted = query.get('note');
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' });
  }, [wanted, phase]);
  if (phase === 'failed') return <FailedTeam />;
  if (phase === 'loading') return <main id="main" aria-busy />;
  const all = [...notes.values()].toReversed();
  return (
    <main className="page notes-page" id="main" tabIndex={-1} data-version={version}>
      <div className="page-head">
        <h1>Notes</h1>
        {all.length > 0 && <span className="count">{all.length}</span>}
        <span className="meta one-line">
          of <Link href={teamPath(teamId)}>{teamId}</Link>
        </span>
      </div>
      {all.length === 0 && (
        <div className="empty">
          <NotebookText size={32} aria-hidden />
          <h2>No note yet</h2>
          <p>Members write notes for each other. From a terminal:</p>
          <code className="command">troupe note add "The API wants UTC" --team {teamId}</code>
        </div>
      )}
      {wanted !== null && all.length > 0 && !notes.has(wanted) && <p className="quiet">Note {wanted} was removed.</p>}
      <ul className="notes" ref={list}>
        {all.map(({ id, authorId, text, tags, updatedAt }) => (
          <li key={id} className="note" aria-current={id === wanted || undefined}>
            <header className="row">
              <span className="mono quiet">{id}</span>
              <b className="one-line">{authorId === '@user' ? 'you' : authorId}</b>
              {tags.map((tag) => (
                <span key={tag} className="badge one-line">
                  {showControls(tag)}
                </span>
              ))}
              <span className="spacer" />
              <time className="meta" dateTime={updatedAt.toISOString()} title={showMoment(updatedAt)}>
                {showTime(updatedAt.getTime())}
              </time>
              <CopyLink path={notePath(teamId, id)} what={`note ${id}`} />
            </header>
            <Markdown text={text} />
          </li>
        ))}
      </ul>
    </main>
  );
}
