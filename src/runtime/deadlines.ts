import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Sees to it that no request waits for ever. */
export interface Deadlines {
  /** Takes up what already waits. */
  start(): Promise<void>;
  close(): void;
}

/** The longest time for which a timer of Node's can be set; one that is due later is set again. */
const LONGEST_MS = 2 ** 31 - 1;

/** Answers with no what nobody has answered when its time is up. */
export function keepDeadlines(ledger: Ledger, onError: (error: unknown, teamId: string) => void): Deadlines {
  const timers = new Map<string, NodeJS.Timeout>();
  const unsubscribe = ledger.subscribe((teamId, { events }) => {
    for (const event of events) react(teamId, event);
  });

  return {
    async start() {
      for (const teamId of await ledger.teams()) {
        try {
          const waiting = await ledger.view(teamId, ({ team, requests }) =>
            team?.status === 'cleaned-up' ? [] : [...requests.values()].filter(({ status }) => status === 'pending'),
          );
          for (const { id, deadline } of waiting) if (deadline) arm(teamId, id, deadline.getTime());
        } catch (error) {
          onError(error, teamId);
        }
      }
    },
    close() {
      unsubscribe();
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };

  function react(teamId: string, event: TeamEvent): void {
    if (event.type === 'request:raised' && event.deadline !== undefined) arm(teamId, event.requestId, event.deadline);
    if (event.type === 'request:answered') disarm(keyOf(teamId, event.requestId));
  }

  function arm(teamId: string, requestId: string, deadline: number): void {
    const key = keyOf(teamId, requestId);
    disarm(key);
    const wait = Math.max(0, deadline - Date.now());
    const ring = (): void => {
      timers.delete(key);
      if (wait > LONGEST_MS) arm(teamId, requestId, deadline);
      else sayNo(teamId, requestId).catch((error: unknown) => onError(error, teamId));
    };
    timers.set(key, setTimeout(ring, Math.min(wait, LONGEST_MS)).unref());
  }

  function disarm(key: string): void {
    clearTimeout(timers.get(key));
    timers.delete(key);
  }

  async function sayNo(teamId: string, requestId: string): Promise<void> {
    const feedback = 'Nobody answered in time.';
    try {
      const command = { type: 'request.answer', by: SYSTEM, requestId, approve: false, feedback } as const;
      await ledger.execute(teamId, command, () => undefined);
    } catch (error) {
      // It was answered or withdrawn meanwhile, or its team is gone.
      const isOver = error instanceof TeamError && ['conflict', 'not_found', 'team_closed'].includes(error.code);
      if (!isOver) throw error;
    }
  }
}

function keyOf(teamId: string, requestId: string): string {
  return `${teamId} ${requestId}`;
}
