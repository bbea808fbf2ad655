import { NotebookText } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { notePath } from '../data/links.ts';
import { teamPath, useQuery } from '../data/route.ts';
import { useTeam } from '../data/use-team.tsx';
import { Command } from '../parts/command.tsx';
import { showControls } from '../parts/controls.ts';
import { CopyLink } from '../parts/copy-link.tsx';
import { Empty } from '../parts/empty.tsx';
import { showMoment, showTime } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { FailedTeam } from '../team/failed-team.tsx';
import './notes.css';

/** So many notes are shown at first, and more on request: a team may have 10,000. */
const SHOWN = 100;

/** What the members of a team wrote down for each other, the newest first. */
export function NotesPage({ teamId }: { teamId: string }) {
  const phase = useTeam(({ phase }) => phase);
  const version = useTeam(({ version }) => version);
  const notes = useTeam(({ view }) => view.state.notes);
  const [query] = useQuery();
  const wanted = query.get('note');
  const [count, setCount] = useState(SHOWN);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' });
  }, [wanted, phase]);
  if (phase === 'failed') return <FailedTeam />;
  if (phase === 'loading') return <main id="main" aria-busy />;
  const all = [...notes.values()].toReversed();
  // A note that a link names is among them.
  const shown = Math.max(count, all.findIndex(({ id }) => id === wanted) + 1);
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
        <Empty icon={NotebookText} title="No note yet">
          <p>Members write notes for each other. From a terminal:</p>
          <Command text={`troupe note add "The API wants UTC" --team ${teamId}`} />
        </Empty>
      )}
      {wanted !== null && all.length > 0 && !notes.has(wanted) && <p className="quiet">Note {wanted} was removed.</p>}
      <ul className="notes" ref={list}>
        {all.slice(0, shown).map(({ id, authorId, text, tags, updatedAt }) => (
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
      {all.length > shown && (
        <button type="button" className="button ghost" onClick={() => setCount(shown + SHOWN)}>
          Show {Math.min(SHOWN, all.length - shown)} more
        </button>
      )}
    </main>
  );
}
