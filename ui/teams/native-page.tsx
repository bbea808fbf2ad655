import { Eye, FileQuestion, Link2, Link2Off, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { teamPath } from '../data/route.ts';
import { act } from '../parts/act.ts';
import { Avatar } from '../parts/avatar.tsx';
import { showControls } from '../parts/controls.ts';
import { plural, showMoment, showTime } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { PHASE_WORDS, PhaseIcon } from '../parts/status.tsx';
import { JoinForm } from './join-form.tsx';
import { useNativeTeams } from './use-native-teams.ts';
import type { NativeTeam } from './use-native-teams.ts';
import './teams.css';

type Mail = ResultOf<'native.show'>['mail'];

/** How many messages are shown, the newest; the files have all. */
const MAIL_SHOWN = 100;

/** One of Claude Code's own teams, as its files are now: to look at, and to join. */
export function NativePage({ name }: { name: string }) {
  const native = useNativeTeams();
  const team = native?.teams.find((one) => one.name === name);
  const joined = native?.joined.get(name);
  if (!native) return <main id="main" aria-busy />;
  if (!team) {
    return (
      <main className="empty" id="main" tabIndex={-1}>
        <FileQuestion size={32} aria-hidden />
        <h1>Claude Code has no team “{name}”</h1>
        <p className="quiet mono">{native.root}</p>
        <Link className="button" href="/">
          All teams
        </Link>
      </main>
    );
  }
  return (
    <main className="page" id="main" tabIndex={-1}>
      <div className="page-head">
        <h1 className="text">{showControls(team.title)}</h1>
        <span className="badge">{team.kind === 'team' ? 'Claude Code team' : 'Claude Code session'}</span>
        <span className="meta">
          {plural(team.members.length, 'member')} · {plural(team.tasks.length, 'task')}
        </span>
        <span className="spacer" />
        <JoinButton team={team} joined={joined} />
      </div>
      {team.description && <p className="native-about text">{team.description}</p>}
      {team.readOnly !== undefined && (
        <p className="native-problem text">
          <Eye size={14} aria-hidden /> It is read-only: {showControls(team.readOnly)}
        </p>
      )}
      {team.problems.map((problem) => (
        <p key={problem} className="native-problem text">
          <TriangleAlert size={14} aria-hidden /> {showControls(problem)}
        </p>
      ))}
      <div className="native">
        <Tasks team={team} />
        <div className="stack">
          <Members team={team} />
          <Messages team={team} />
        </div>
      </div>
    </main>
  );
}

function JoinButton({ team, joined }: { team: NativeTeam; joined: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  // The news of the join may come before its answer, and a form that goes cancels its call.
  if (joined !== undefined && !isOpen) {
    return (
      <>
        <button
          type="button"
          className="button"
          onClick={() => void act(() => call('native.leave', { teamId: joined }), `${joined} has left ${team.title}`)}
        >
          <Link2Off size={15} aria-hidden /> Leave
        </button>
        <Link className="button primary" href={teamPath(joined)}>
          Open {joined}
        </Link>
      </>
    );
  }
  if (team.kind !== 'team' || team.form !== 'known' || team.readOnly !== undefined) return null;
  return (
    <>
      <button
        type="button"
        className="button primary"
        title="Shows first what would change"
        onClick={() => setOpen(true)}
      >
        <Link2 size={15} aria-hidden /> Join…
      </button>
      <JoinForm name={team.name} title={team.title} isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  );
}

const PHASES = ['in_progress', 'pending', 'blocked', 'completed'] as const;

function Tasks({ team: { tasks } }: { team: NativeTeam }) {
  const open = new Set(tasks.flatMap(({ id, status }) => (status === 'completed' ? [] : [id])));
  const phaseOf = ({ status, blockedBy }: NativeTeam['tasks'][number]): (typeof PHASES)[number] => {
    if (status === 'completed' || status === 'in_progress') return status;
    return blockedBy.some((id) => open.has(id)) ? 'blocked' : 'pending';
  };
  const byPhase = Map.groupBy(tasks, phaseOf);
  return (
    <section className="native-part" aria-label="Tasks">
      <h2>
        Tasks <span className="quiet">{tasks.length}</span>
      </h2>
      {tasks.length === 0 && <p className="quiet">It has no tasks.</p>}
      {PHASES.map((phase) => (
        <ul key={phase}>
          {byPhase.get(phase)?.map((task) => (
            <li key={task.id} className="row">
              <span className={`status is-${phase}`} title={PHASE_WORDS[phase]}>
                <PhaseIcon phase={phase} />
                <span className="hidden">{PHASE_WORDS[phase]}</span>
              </span>
              <span className="mono quiet">#{task.id}</span>
              <span className="text">{task.subject}</span>
              <span className="spacer" />
              <span className="meta one-line">{task.owner}</span>
            </li>
          ))}
        </ul>
      ))}
    </section>
  );
}

function Members({ team: { members, lead } }: { team: NativeTeam }) {
  return (
    <section className="native-part" aria-label="Members">
      <h2>
        Members <span className="quiet">{members.length}</span>
      </h2>
      {members.length === 0 && <p className="quiet">Nobody but the session itself.</p>}
      <ul>
        {members.map(({ name, agentType, model, color, active, unread, currentTask }) => (
          <li key={name} className="row">
            <Avatar name={name} color={name === lead ? undefined : color} />
            <b className="one-line">{name}</b>
            {name === lead && <span className="badge">Team Lead</span>}
            <span className="meta one-line">
              {[agentType !== name && agentType, model].filter(Boolean).join(' · ')}
            </span>
            <span className="spacer" />
            {currentTask !== undefined && (
              <span className="meta one-line" title={`It works on: ${showControls(currentTask)}`}>
                {showControls(currentTask)}
              </span>
            )}
            {unread > 0 && <span className="meta">{unread} unread</span>}
            {active === false && <span className="meta">idle</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The list of teams does not contain the mail, so it is fetched again after every change. */
function Messages({ team: { name, messages, changedAt } }: { team: NativeTeam }) {
  const [mail, setMail] = useState<Mail>([]);
  useEffect(() => {
    const stop = new AbortController();
    call('native.show', { name }, { signal: stop.signal }).then(
      (team) => setMail(team.mail),
      () => undefined,
    );
    return () => stop.abort();
  }, [name, messages, changedAt]);
  return (
    <section className="native-part" aria-label="Messages">
      <h2>
        Messages <span className="quiet">{messages}</span>
      </h2>
      {mail.length === 0 && <p className="quiet">None in its inboxes.</p>}
      <ul className="native-mail">
        {mail
          .slice(-MAIL_SHOWN)
          .toReversed()
          .map(({ from, to, text, sentAt, read }, i) => {
            const at = Date.parse(sentAt);
            return (
              <li key={`${sentAt} ${from} ${to} ${i}`}>
                <header className="row meta">
                  <b className="one-line">{from}</b> → <b className="one-line">{to}</b>
                  <span className="spacer" />
                  {read ? 'read' : 'unread'}
                  {!Number.isNaN(at) && <time title={showMoment(at)}>{showTime(at)}</time>}
                </header>
                <Markdown text={text} />
              </li>
            );
          })}
      </ul>
    </section>
  );
}
