import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Alarms } from './alarms.ts';

/** Makes sure that no request waits forever. */
export interface Deadlines {
  /** Starts timers for the pending requests. */
  start(): Promise<void>;
  close(): void;
}

/** Answers a request with no when its deadline passes. */
export function keepDeadlines(ledger: Ledger, onError: (error: unknown, teamId: string) => void): Deadlines {
  const alarms = new Alarms(onError);
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
      alarms.close();
    },
  };

  function react(teamId: string, event: TeamEvent): void {
    if (event.type === 'request:raised' && event.deadline !== undefined) arm(teamId, event.requestId, event.deadline);
    if (event.type === 'request:answered') alarms.clear(teamId, event.requestId);
  }

  function arm(teamId: string, requestId: string, deadline: number): void {
    alarms.set(teamId, requestId, deadline, () => sayNo(teamId, requestId));
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
