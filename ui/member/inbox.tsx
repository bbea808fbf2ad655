import { useVirtualizer } from '@tanstack/react-virtual';
import { Check, CheckCheck, Clock3, Eye, Mail, Zap } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { isPerson, otherTeamOf } from '../../src/client/replica.ts';
import type { TeamMessage } from '../../src/core/message.ts';
import { call } from '../data/daemon.ts';
import { placePath } from '../data/links.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useStore, useTeam } from '../data/use-team.tsx';
import { act } from '../parts/act.ts';
import { Avatar } from '../parts/avatar.tsx';
import { showControls } from '../parts/controls.ts';
import { CopyLink } from '../parts/copy-link.tsx';
import { Empty } from '../parts/empty.tsx';
import { showClock, showMoment } from '../parts/format.ts';
import { Markdown } from '../parts/markdown.tsx';
import { record } from '../record/head.ts';

/** The mail of a member, the newest first, with the delivery state of each message. */
export function Inbox({ memberId, wanted }: { memberId: string; wanted: string | null }) {
  const store = useStore();
  const version = useTeam(({ version }) => version);
  const member = store.view.state.members.get(memberId);
  const ids = store.view.state.index.inboxes.get(memberId)?.ids ?? [];
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: ids.length,
    getScrollElement: () => box.current,
    estimateSize: () => 84,
    overscan: 8,
    getItemKey: (i) => ids[ids.length - 1 - i] ?? i,
  });
  // Rows are measured as they come into sight, so the first jump may miss.
  useEffect(() => {
    const at = wanted === null ? -1 : ids.lastIndexOf(wanted);
    if (at < 0) return undefined;
    const show = (): void => virtual.scrollToIndex(ids.length - 1 - at, { align: 'center' });
    show();
    const frame = requestAnimationFrame(show);
    return () => cancelAnimationFrame(frame);
  }, [wanted, memberId]);
  if (ids.length === 0) {
    return (
      <Empty icon={Mail} title="No mail">
        {!record && <p className="quiet">Write to {memberId} below.</p>}
      </Empty>
    );
  }
  return (
    <div
      className="inbox"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={`Inbox of ${memberId}`}
      data-version={version}
    >
      {member && isPerson(member) && <MarkRead teamId={store.teamId} memberId={memberId} />}
      <ul style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const message = store.view.state.messages.get(ids[ids.length - 1 - index] ?? '');
          return (
            <li
              key={key}
              data-index={index}
              ref={virtual.measureElement}
              className="step-place"
              style={{ transform: `translateY(${start}px)` }}
            >
              {message && <MessageView message={message} isWanted={message.id === wanted} />}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** An agent's mail is read when it was shown to the agent. A person marks it as read. */
function MarkRead({ teamId, memberId }: { teamId: string; memberId: string }) {
  const canAct = useCanAct();
  const unread = useTeam(({ view }) => view.state.index.inboxes.get(memberId)?.waiting.size ?? 0);
  if (unread === 0 || record) return null;
  const mark = (): void =>
    void act(() => call('message.inbox', { teamId, memberId, unread: true, markRead: true }, { as: memberId }));
  return (
    <div className="inbox-head row">
      <span className="spacer" />
      <button type="button" className="button small" disabled={!canAct} onClick={mark}>
        <Eye size={14} aria-hidden /> Mark all as read
      </button>
    </div>
  );
}

/** A message with how far it got. */
export function MessageView({ message, isWanted = false }: { message: TeamMessage; isWanted?: boolean }) {
  const color = useTeam(({ view }) => view.state.members.get(message.fromId)?.color);
  const from = message.fromId === '@user' ? 'you' : message.fromId === '@system' ? 'Troupe' : message.fromId;
  return (
    <article className="message" aria-label={`From ${from}`} aria-current={isWanted || undefined}>
      <Avatar name={message.fromId} color={color} size={24} />
      <div className="message-body">
        <header className="row">
          <b className="one-line">{from}</b>
          {otherTeamOf(message.fromId) !== undefined && <span className="badge">another team</span>}
          {message.type !== 'direct' && <span className="badge">{message.type.replace('_', ' ')}</span>}
          {message.priority === 'urgent' && (
            <span className="status is-gate">
              <Zap size={13} aria-hidden /> urgent
            </span>
          )}
          <span className="spacer" />
          <Receipt message={message} />
          <time className="meta" dateTime={message.sentAt.toISOString()} title={showMoment(message.sentAt)}>
            {showClock(message.sentAt)}
          </time>
          <CopyLink
            path={placePath(message.teamId, message.toId, { message: message.id })}
            what="this message"
            className="small"
          />
        </header>
        {message.summary !== undefined && <div className="message-summary text">{showControls(message.summary)}</div>}
        <Content text={message.content} />
      </div>
    </article>
  );
}

/** Longer messages are folded, because they would push others out of sight. */
const LONG = { characters: 900, lines: 14 };

/** The text of a message; a long one is folded until the person opens it. */
function Content({ text }: { text: string }) {
  const isLong = text.length > LONG.characters || text.split('\n', LONG.lines + 1).length > LONG.lines;
  const [isWhole, setWhole] = useState(false);
  if (!isLong) return <Markdown text={text} />;
  return (
    <>
      <div className={isWhole ? undefined : 'message-start'}>
        <Markdown text={text} />
      </div>
      <button
        type="button"
        className="button ghost small message-more"
        aria-expanded={isWhole}
        onClick={() => setWhole(!isWhole)}
      >
        {isWhole ? 'Show less' : 'Show all'}
      </button>
    </>
  );
}

/** How far a message got: sent, delivered, acknowledged, read. */
function Receipt({ message }: { message: TeamMessage }) {
  const again = message.redeliveries > 0 ? `, redelivered ×${message.redeliveries}` : '';
  if (message.readAt) {
    return (
      <span className="receipt read" title={`${showMoment(message.readAt)}${again}`}>
        <Eye size={14} aria-hidden /> read
      </span>
    );
  }
  if (message.acknowledgedAt) {
    return (
      <span className="receipt" title={`${showMoment(message.acknowledgedAt)}${again}`}>
        <CheckCheck size={14} aria-hidden /> arrived
      </span>
    );
  }
  if (message.deliveredAt) {
    return (
      <span className="receipt" title={`${showMoment(message.deliveredAt)}${again}`}>
        <Check size={14} aria-hidden /> delivered
      </span>
    );
  }
  return (
    <span className="receipt waiting">
      <Clock3 size={14} aria-hidden /> waiting
    </span>
  );
}
