import { Mail } from 'lucide-react';
import { useState } from 'react';
import type { Attempt } from '../../data/task-attempts.ts';
import { messagesAbout } from '../../data/task-messages.ts';
import { useStore, useTeam } from '../../data/use-team.tsx';
import { MessageView } from '../../member/inbox.tsx';
import { Empty } from '../../parts/empty.tsx';
import '../../member/member.css';

/** More are shown on demand. */
const SHOWN = 50;

/** The messages about a task, the newest first. */
export function MessagesPart({ taskId, attempts }: { taskId: string; attempts: readonly Attempt[] }) {
  const store = useStore();
  const version = useTeam(({ version }) => version);
  const [most, setMost] = useState(SHOWN);
  const found = messagesAbout(store.view.state.messages.values(), taskId, attempts).toReversed();
  if (found.length === 0) {
    return (
      <Empty icon={Mail} title="No message about it">
        <p className="quiet">Messages that name #{taskId}, and those of its holder meanwhile, appear here.</p>
      </Empty>
    );
  }
  return (
    <div className="sheet-body" data-version={version}>
      <ul className="sheet-messages">
        {found.slice(0, most).map((message) => (
          <li key={message.id}>
            <MessageView message={message} />
          </li>
        ))}
      </ul>
      {found.length > most && (
        <button type="button" className="button" onClick={() => setMost(most + SHOWN)}>
          Show {Math.min(SHOWN, found.length - most)} more of {found.length}
        </button>
      )}
    </div>
  );
}
