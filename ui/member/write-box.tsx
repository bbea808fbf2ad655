import { Send, Zap } from 'lucide-react';
import { useRef, useState } from 'react';
import type { MemberRecord } from '../../src/core/state.ts';
import { call } from '../data/daemon.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';

/** Writes to a member. A normal message waits for the end of its turn, an urgent one reaches the running turn. */
export function WriteBox({ teamId, member }: { teamId: string; member: MemberRecord }) {
  const [content, setShown] = useState(() => readDraft(teamId, member.id));
  const typed = useRef(content);
  const show = (text: string): void => setShown((typed.current = text));
  const setContent = (text: string): void => {
    show(text);
    keepDraft(teamId, member.id, text);
  };
  const [isUrgent, setUrgent] = useState(false);
  const canAct = useCanAct();
  const { isBusy, failure, run } = useAct();
  const canWrite = canAct && (member.status !== 'stopped' || member.returning === true);
  const send = async (): Promise<void> => {
    if (isBusy || content.trim() === '') return;
    const message = { teamId, toId: member.id, content, priority: isUrgent ? 'urgent' : 'normal' } as const;
    // From now on, input belongs to the next message. The draft stays until this one is sent.
    show('');
    setUrgent(false);
    if (!(await run(() => call('message.send', message)))) {
      setContent([content, typed.current].filter(Boolean).join('\n'));
      setUrgent(isUrgent);
    } else if (typed.current === '') keepDraft(teamId, member.id, '');
  };
  return (
    <form
      className="write"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <FailureNote failure={failure} />
      <div className="write-row">
        <textarea
          className="input"
          rows={2}
          aria-label={`Write to ${member.id}`}
          placeholder={canWrite ? `Write to ${member.id}` : `${member.id} cannot be written to now`}
          value={content}
          disabled={!canWrite}
          onChange={(event) => setContent(event.target.value)}
          onKeyDown={(event) => {
            // Escape leaves the box, so that the page's keys work again; the text stays.
            if (event.key === 'Escape' && !event.nativeEvent.isComposing) event.currentTarget.blur();
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <div className="write-buttons">
          <button
            type="button"
            className="button"
            aria-pressed={isUrgent}
            disabled={!canWrite}
            onClick={() => setUrgent(!isUrgent)}
            title="Reach a running turn instead of waiting for its end"
          >
            <Zap size={15} aria-hidden /> Urgent
          </button>
          <button type="submit" className="button primary" disabled={!canWrite || isBusy || content.trim() === ''}>
            <Send size={15} aria-hidden /> Send
          </button>
        </div>
      </div>
    </form>
  );
}

/** The draft of a message to a member. It is kept for this tab, so it survives a visit to another page and a reload. */
function readDraft(teamId: string, memberId: string): string {
  return sessionStorage.getItem(keyOf(teamId, memberId)) ?? '';
}

function keepDraft(teamId: string, memberId: string, text: string): void {
  const key = keyOf(teamId, memberId);
  if (text === '') return sessionStorage.removeItem(key);
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // If the browser has no space for the text, only the box keeps it, for as long as it is shown.
  }
}

function keyOf(teamId: string, memberId: string): string {
  return `draft ${teamId}/${memberId}`;
}
