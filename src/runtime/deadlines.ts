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

/** Ends a member that has not answered a shutdown request in time. */
export type ShutDown = (teamId: string, memberId: string, reason: string) => Promise<unknown>;

/** Answers a request with no when its deadline passes. A member that should stop is stopped then. */
export function keepDeadlines(
  ledger: Ledger,
  shutDown: ShutDown,
  onError: (error: unknown, teamId: string) => void,
): Deadlines {
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
    if (event.type === 'shutdown:requested' && event.deadline !== undefined) {
      arm(teamId, event.requestId, event.deadline);
    }
    if (event.type === 'shutdown:approved' || event.type === 'shutdown:rejected') alarms.clear(teamId, event.requestId);
    if (event.type === 'request:answered') alarms.clear(teamId, event.requestId);
  }

  function arm(teamId: string, requestId: string, deadline: number): void {
    alarms.set(teamId, requestId, deadline, () => ring(teamId, requestId));
  }

  async function ring(teamId: string, requestId: string): Promise<void> {
    try {
      const { request, isOpen } = await ledger.view(teamId, ({ team, requests }) => ({
        request: requests.get(requestId),
        isOpen: team?.status === 'active',
      }));
      if (request?.kind !== 'shutdown') return await sayNo(teamId, requestId);
      // A team that shuts down ends its members itself, and waits for their processes.
      if (!isOpen) return undefined;
      const feedback = 'It did not answer in time.';
      // Of several daemons one gets here; the others find the request answered.
      await ledger.execute(teamId, { type: 'shutdown.approve', by: SYSTEM, requestId, feedback }, () => undefined);
      return void (await shutDown(teamId, request.memberId, 'it did not answer the request to shut down in time'));
    } catch (error) {
      // It was answered or withdrawn meanwhile, or its team is gone.
      const isOver = error instanceof TeamError && ['conflict', 'not_found', 'team_closed'].includes(error.code);
      if (!isOver) throw error;
    }
  }

  async function sayNo(teamId: string, requestId: string): Promise<void> {
    const feedback = 'Nobody answered in time.';
    const command = { type: 'request.answer', by: SYSTEM, requestId, approve: false, feedback } as const;
    await ledger.execute(teamId, command, () => undefined);
  }
}
