import { ListChecks, Mail, NotebookText, ScrollText, SearchX, User, Users } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import { notePath, placePath } from '../data/links.ts';
import { teamPath, useQuery } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import { teams } from '../data/teams.ts';
import { showControls } from '../parts/controls.ts';
import { Empty } from '../parts/empty.tsx';
import { FailureNote } from '../parts/failure.tsx';
import { showTime } from '../parts/format.ts';
import { useKeys } from '../parts/keys.ts';
import { Link } from '../parts/link.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { useEverything } from './use-everything.ts';
import type { Finding, Findings } from './use-everything.ts';
import './search.css';

const KINDS = [
  ['team', 'Teams', Users],
  ['task', 'Tasks', ListChecks],
  ['member', 'Members', User],
  ['note', 'Notes', NotebookText],
  ['message', 'Messages', Mail],
  ['transcript', 'Transcripts', ScrollText],
] as const;

/** How many hits of a kind are shown, and how many after "Show more". */
const FEW = 8;
const MANY = 100;

/** One search over everything in all teams, or in one. */
export function SearchPage() {
  const [query, setQuery] = useQuery();
  const text = query.get('q') ?? '';
  const team = query.get('team') ?? '';
  const limit = query.get('all') === null ? FEW : MANY;
  const list = useSignal(teams) ?? [];
  const { isBusy, findings, failure } = useEverything(text, team || undefined, limit);
  const input = useRef<HTMLInputElement>(null);
  const results = useRef<HTMLDivElement>(null);
  const focus = (): void => input.current?.select();
  useEffect(focus, []);
  useKeys({ '/': focus });
  // Arrow keys go from the box to the hits, and from hit to hit.
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    const links = [...(results.current?.querySelectorAll<HTMLElement>('a.found') ?? [])];
    const at = links.findIndex((link) => link === document.activeElement) + by;
    event.preventDefault();
    if (at < 0) input.current?.focus();
    else links[Math.min(at, links.length - 1)]?.focus();
  };
  const isOpen = text.trim() !== '';
  return (
    <main className="page search-page" id="main" tabIndex={-1} onKeyDown={onKeyDown}>
      <div className="page-head">
        <h1>Search</h1>
      </div>
      <div className="search-line">
        <SearchField
          ref={input}
          label="Search everything"
          placeholder="Teams, tasks, members, notes, messages, transcripts"
          maxLength={200}
          value={text}
          onText={(q) => setQuery({ q, all: undefined })}
        />
        <select
          className="input"
          aria-label="Where"
          value={team}
          onChange={(event) => setQuery({ team: event.target.value, all: undefined })}
        >
          <option value="">All teams</option>
          {list.map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </div>
      <p className="meta search-count" role="status" aria-busy={isBusy}>
        {isOpen && (findings ? wordCount(findings) : isBusy ? 'Searching' : '')}
      </p>
      <FailureNote failure={failure} />
      <div ref={results} className={isBusy ? 'search-results is-busy' : 'search-results'} data-busy={isBusy}>
        {isOpen && findings?.hits.length === 0 && !isBusy && (
          <Empty icon={SearchX} title="Nothing was found">
            <p className="quiet">A search finds the text exactly as it is written, in small or capital letters.</p>
          </Empty>
        )}
        {isOpen && findings && <Groups findings={findings} onAll={() => setQuery({ all: '1' })} limit={limit} />}
      </div>
    </main>
  );
}

function Groups({ findings, limit, onAll }: { findings: Findings; limit: number; onAll: () => void }) {
  const byKind = Map.groupBy(findings.hits, ({ kind }) => kind);
  return KINDS.map(([kind, word, Icon]) => {
    const hits = byKind.get(kind) ?? [];
    const isMore = findings.more.includes(kind);
    const isUnfinished = findings.unfinished.includes(kind);
    if (hits.length === 0 && !isUnfinished) return null;
    return (
      <section key={kind} className="found-group" aria-label={word}>
        <h2>
          <Icon size={15} aria-hidden /> {word}{' '}
          <span className="quiet">
            {hits.length}
            {isMore && '+'}
          </span>
        </h2>
        <ul>
          {hits.map((hit) => (
            <li key={`${hit.teamId} ${hit.id} ${hit.place}`}>
              <Found hit={hit} />
            </li>
          ))}
        </ul>
        {isUnfinished && (
          <p className="meta">
            {hits.length > 0 ? 'There may be more: not' : 'Not'} everything was searched. Choose a team to search less.
          </p>
        )}
        {isMore && limit === FEW && (
          <button type="button" className="button ghost small" onClick={onAll}>
            Show more
          </button>
        )}
      </section>
    );
  });
}

function Found({ hit }: { hit: Finding }) {
  const { kind, id, teamId, memberId, title, before, match, after, at } = hit;
  // A match within the title is shown there.
  const isInTitle = kind !== 'transcript' && (match === '' || title.includes(match));
  return (
    <Link className="found" href={pathOf(hit)}>
      <span className="found-title one-line" title={showControls(title)}>
        {kind === 'task' && <span className="mono quiet">#{id} </span>}
        {kind === 'message' && <span className="quiet">To {memberId}: </span>}
        {isInTitle ? <Marked title={title} match={match} /> : showControls(title)}
      </span>
      <span className="meta one-line found-where">
        {teamId}
        {at !== undefined && <> · {showTime(Date.parse(at))}</>}
      </span>
      {!isInTitle && (
        <span className="found-text two-lines">
          {showControls(before.replaceAll(/\s+/g, ' '))}
          <mark>{showControls(match)}</mark>
          {showControls(after.replaceAll(/\s+/g, ' '))}
        </span>
      )}
    </Link>
  );
}

function Marked({ title, match }: { title: string; match: string }) {
  const at = match === '' ? -1 : title.indexOf(match);
  if (at < 0) return <>{showControls(title)}</>;
  return (
    <>
      {showControls(title.slice(0, at))}
      <mark>{showControls(match)}</mark>
      {showControls(title.slice(at + match.length))}
    </>
  );
}

/** Where a hit is shown. */
function pathOf({ kind, teamId, id, memberId = '', place = 0 }: Finding): string {
  if (kind === 'task') return teamPath(teamId, `/task/${encodeURIComponent(id)}`);
  if (kind === 'member') return teamPath(teamId, `/m/${encodeURIComponent(id)}`);
  if (kind === 'note') return notePath(teamId, id);
  if (kind === 'message') return placePath(teamId, memberId, { message: id });
  if (kind === 'transcript') return placePath(teamId, memberId, { session: id, place });
  return teamPath(teamId);
}

function wordCount({ hits, more, unfinished }: Findings): string {
  const isAll = more.length === 0 && unfinished.length === 0;
  return `${isAll ? '' : 'At least '}${hits.length} found`;
}
