import { EllipsisVertical, Hand, Power, RotateCcw, Square, UserX } from 'lucide-react';
import { Suspense, useState } from 'react';
import { isPerson, isTeamAgent, isVacant } from '../../src/client/replica.ts';
import type { MemberRecord } from '../../src/core/state.ts';
import { call } from '../data/daemon.ts';
import { teamPath, useQuery } from '../data/route.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useTeam } from '../data/use-team.tsx';
import { Form } from '../forms/form.tsx';
import { act } from '../parts/act.ts';
import { Avatar } from '../parts/avatar.tsx';
import { showControls } from '../parts/controls.ts';
import { CopyLink } from '../parts/copy-link.tsx';
import { useKeys } from '../parts/keys.ts';
import { later } from '../parts/later.ts';
import { Link } from '../parts/link.tsx';
import { ActionMenu } from '../parts/menu.tsx';
import { Modal } from '../parts/modal.tsx';
import { stepTab } from '../parts/step-tab.ts';
import { say } from '../parts/toast.tsx';
import { RequestCard } from '../queue/request-card.tsx';
import { useKept } from '../queue/use-kept.ts';
import { record } from '../record/head.ts';
import { FailedTeam } from '../team/failed-team.tsx';
import { agentOf, LeadBadge } from '../team/member-card.tsx';
import { Doing, MemberState } from '../team/member-state.tsx';
import { Facts } from './facts.tsx';
import { Inbox } from './inbox.tsx';
import { InnerTeams } from './inner-team.tsx';
import { MemberTasks } from './member-tasks.tsx';
import { TeamPanel } from './team-panel.tsx';
import { Transcript } from './transcript.tsx';
import { WorkFacts } from './work-facts.tsx';
import { WriteBox } from './write-box.tsx';
import './member.css';

const UsagePlot = later(async () => (await import('./usage-plot.tsx')).UsagePlot);

/** On a wide page, the content of the last tab is at the side. */
const ALL_TABS = ['transcript', 'inbox', 'tasks', 'usage', 'about'] as const;

/** A record may have no transcripts. */
const TABS = ALL_TABS.filter((tab) => tab !== 'transcript' || (record?.hasTranscripts ?? true));

/** One member: its transcript, inbox, tasks and usage, and a box to write to it. */
export function MemberPage({ teamId, memberId }: { teamId: string; memberId: string }) {
  const phase = useTeam(({ phase }) => phase);
  const member = useTeam(({ view }) => view.state.members.get(memberId));
  const isLead = useTeam(({ view }) => view.team?.leadId === memberId);
  const unread = useTeam(({ view }) => view.state.index.inboxes.get(memberId)?.waiting.size ?? 0);
  const held = useTeam(({ view }) => view.tasks.filter(({ task }) => task.assigneeId === memberId).length);
  const waits = useTeam(({ view }) => view.pending.filter((request) => request.memberId === memberId).length);
  const [query, setQuery] = useQuery();
  const isByHand = member !== undefined && isPerson(member);
  const tab = TABS.find((one) => one === query.get('tab')) ?? (isByHand ? 'inbox' : (TABS[0] ?? 'inbox'));
  useKeys({
    ...(TABS.includes('transcript') && { '1': () => setQuery({ tab: 'transcript' }) }),
    '2': () => setQuery({ tab: 'inbox' }),
    '3': () => setQuery({ tab: 'tasks' }),
    '4': () => setQuery({ tab: 'usage' }),
    w: () => document.querySelector<HTMLTextAreaElement>('.write textarea')?.focus(),
  });
  if (phase === 'failed') return <FailedTeam />;
  if (phase === 'loading') return <main id="main" aria-busy />;
  if (!member || isVacant(member)) {
    return (
      <main className="empty" id="main" tabIndex={-1}>
        <UserX size={32} aria-hidden />
        <h1>{member ? `Nobody leads ${teamId}` : `${teamId} has no member “${memberId}”`}</h1>
        <Link className="button" href={teamPath(teamId)}>
          Back to the team
        </Link>
      </main>
    );
  }
  const counts: Readonly<Record<string, number>> = { inbox: unread, tasks: held, about: waits };
  const about = (
    <>
      <Waiting memberId={memberId} />
      <Facts member={member} />
      {member.workspace === 'own' && <WorkFacts teamId={teamId} memberId={memberId} />}
      {isLead && <TeamPanel teamId={teamId} />}
      {member.agent && isTeamAgent(member.agent) && <InnerTeams teamId={teamId} memberId={memberId} />}
    </>
  );
  return (
    <main className="member-page" id="main" tabIndex={-1}>
      <header className="member-head">
        <Avatar name={memberId} color={isLead ? undefined : member.color} size={40} />
        <div className="member-who">
          <div className="row">
            <h1 className="one-line">{memberId}</h1>
            {isLead && <LeadBadge />}
            <MemberState member={member} />
          </div>
          <div className="meta one-line">
            <Link href={teamPath(teamId)}>{teamId}</Link> · {showControls(member.role)}
            {agentOf(member) !== '' && <> · {agentOf(member)}</>}
          </div>
        </div>
        <div className="member-doing one-line">
          <Doing member={member} />
        </div>
        <span className="spacer" />
        <CopyLink path={teamPath(teamId, `/m/${encodeURIComponent(memberId)}`)} what={memberId} />
        {!record && <Actions teamId={teamId} member={member} />}
      </header>
      <section className="member-main">
        <div className="tabs" role="tablist" aria-label={`Views of ${memberId}`}>
          {TABS.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              className={name === 'about' ? 'narrow-tab' : undefined}
              id={`tab-${name}`}
              aria-selected={tab === name}
              tabIndex={tab === name ? 0 : -1}
              aria-controls="panel"
              onClick={() => setQuery({ tab: name })}
              onKeyDown={stepTab}
            >
              {name[0]?.toUpperCase()}
              {name.slice(1)}
              {(counts[name] ?? 0) > 0 && <span className="tab-count">{counts[name]}</span>}
            </button>
          ))}
        </div>
        <div className="member-panel" id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {tab === 'transcript' && (
            <Transcript
              key={`${memberId} ${query.get('session')} ${query.get('place')}`}
              teamId={teamId}
              memberId={memberId}
              at={placeIn(query)}
              isPerson={isByHand}
              isOver={member.status === 'stopped' || record !== undefined}
            />
          )}
          {tab === 'inbox' && <Inbox memberId={memberId} wanted={query.get('message')} />}
          {tab === 'tasks' && <MemberTasks teamId={teamId} memberId={memberId} />}
          {tab === 'usage' && (
            <Suspense fallback={null}>
              <UsagePlot memberId={memberId} />
            </Suspense>
          )}
          {tab === 'about' && <div className="member-about">{about}</div>}
        </div>
        {!record && <WriteBox teamId={teamId} member={member} />}
      </section>
      {tab !== 'about' && (
        <aside className="member-side" aria-label={`About ${memberId}`}>
          {about}
        </aside>
      )}
    </main>
  );
}

/** The entry of the transcript that the address names. */
function placeIn(query: URLSearchParams): { session: string; place: number } | undefined {
  const session = query.get('session');
  const place = Number(query.get('place') ?? Number.NaN);
  return session === null || !Number.isSafeInteger(place) || place < 0 ? undefined : { session, place };
}

/** The requests of this member. */
function Waiting({ memberId }: { memberId: string }) {
  const pending = useTeam(({ view }) => view.pending);
  const canAct = useCanAct();
  const own = pending.filter((request) => request.memberId === memberId);
  const { shown, moveOn } = useKept(own, Infinity);
  if (shown.length === 0) return null;
  return (
    <section className="member-waits" aria-label="Waits">
      {shown.map((request) => (
        <RequestCard key={request.id} request={request} title={undefined} isOpen canAct={canAct} onNext={moveOn} />
      ))}
    </section>
  );
}

function Actions({ teamId, member }: { teamId: string; member: MemberRecord }) {
  const canAct = useCanAct();
  const [isSure, setSure] = useState(false);
  const isLead = useTeam(({ view }) => view.team?.leadId === member.id);
  const memberId = member.id;
  const isStopped = member.status === 'stopped';
  const restart = (): void =>
    void act(() => call('member.restart', { teamId, memberId }), `${memberId} is started again`);
  const stop = async (signal: AbortSignal): Promise<void> => {
    await call('member.stop', { teamId, memberId, reason: 'stopped by a person' }, { signal });
    say(`${memberId} was stopped`);
  };
  const ask = (): void =>
    void act(
      () => call('shutdown.request', { teamId, memberId, reason: 'a person asked for it' }),
      `${memberId} was asked to stop`,
    );
  return (
    <>
      {isStopped && member.agent && (
        <button type="button" className="button" disabled={!canAct} onClick={restart}>
          <RotateCcw size={15} aria-hidden /> Restart
        </button>
      )}
      {!isStopped && !isLead && (
        <button type="button" className="button" disabled={!canAct} onClick={() => setSure(true)}>
          <Square size={14} aria-hidden /> Stop
        </button>
      )}
      <ActionMenu
        trigger={
          <button type="button" className="button ghost icon" aria-label={`Actions for ${memberId}`}>
            <EllipsisVertical size={18} aria-hidden />
          </button>
        }
        lines={[
          {
            label: 'Ask to shut down',
            icon: <Hand size={15} />,
            isDisabled: !canAct || isStopped,
            onSelect: ask,
          },
          {
            label: 'Restart',
            icon: <RotateCcw size={15} />,
            isDisabled: !canAct || !member.agent,
            onSelect: restart,
          },
          {
            label: 'Stop now…',
            icon: <Power size={15} />,
            isDanger: true,
            isDisabled: !canAct || isStopped,
            onSelect: () => setSure(true),
          },
        ]}
      />
      <Modal title={`Stop ${memberId} now?`} isOpen={isSure} onClose={() => setSure(false)}>
        <Form verb="Stop" busyVerb="Stopping…" isDanger submit={stop} onClose={() => setSure(false)}>
          <p>{member.agent ? 'Its program is ended at once' : 'It is no longer on the team'}, and its tasks go back.</p>
        </Form>
      </Modal>
    </>
  );
}
