import { nounOf } from '../../core/event.ts';
import type { TeamEvent } from '../../core/event.ts';
import type { TeamState } from '../../core/state.ts';
import type { Alone } from './batches.ts';
import type { QueueOptions } from './queue-options.ts';
import { openTeamQueue } from './team-queue.ts';
import type { TeamQueue } from './team-queue.ts';

/** What looking after merge queues needs. */
export interface QueueKeeperOptions extends QueueOptions {
  /** Whether this daemon may land works of a team. Another machine's team may be of a project that is not here. */
  readonly isNear: (state: TeamState) => boolean;
  /** Milliseconds between two looks at all queues: a daemon that is gone sends no event. */
  readonly lookEvery?: number;
}

const LOOK_EVERY_MS = 5_000;

/** Looks after the merge queues of all teams: whenever something joins one or leaves it, and now and then. */
export function keepQueues(options: QueueKeeperOptions) {
  const { ledger, hostId, isNear, onError, lookEvery = LOOK_EVERY_MS } = options;
  const queues = new Map<string, TeamQueue>();
  /** The teams with works in their queue. */
  const waiting = new Set<string>();
  let stopListening = (): void => {};
  let timer: NodeJS.Timeout | undefined;

  return {
    /** Goes on with what an earlier daemon left in the queues. */
    async start(): Promise<void> {
      stopListening = ledger.subscribe((teamId, { events }, state) => {
        if (events.some(isOfQueue)) look(state);
        if (state.team?.status === 'cleaned-up') forget(teamId);
      });
      timer = setInterval(() => void lookAtWaiting(), lookEvery).unref();
      await ledger.viewAll(look, { unreadable: () => undefined });
    },
    /** What this daemon found out about a work that waits, by judging it alone. */
    aloneOf: (teamId: string, work: Parameters<TeamQueue['aloneOf']>[0]): Alone => queues.get(teamId)?.aloneOf(work),
    close(): void {
      clearInterval(timer);
      stopListening();
      for (const queue of queues.values()) queue.close();
    },
  };

  /** Teams without work stay closed. */
  async function lookAtWaiting(): Promise<void> {
    for (const teamId of waiting) {
      await ledger.view(teamId, look).catch((error: unknown) => onError(error, { teamId }));
    }
  }

  function look(state: TeamState): void {
    const { teamId, team } = state;
    if (!team?.work?.queue?.length || team.status === 'cleaned-up') return void waiting.delete(teamId);
    waiting.add(teamId);
    // A landing that an earlier daemon of this machine left open is ours, even if all members have moved: nobody else ends it.
    if (!isNear(state) && team.work.landing?.hostId !== hostId) return;
    const queue = queues.get(teamId) ?? openTeamQueue(teamId, options);
    queues.set(teamId, queue);
    queue.wake();
  }

  function forget(teamId: string): void {
    queues.get(teamId)?.close();
    queues.delete(teamId);
    waiting.delete(teamId);
  }
}

export type Queues = ReturnType<typeof keepQueues>;

function isOfQueue(event: TeamEvent): boolean {
  return ['work', 'landing', 'tip'].includes(nounOf(event));
}
