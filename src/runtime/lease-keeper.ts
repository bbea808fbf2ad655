import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import { isRenewalDue } from '../core/lease.ts';
import type { TaskRecord, TeamState } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Alarms } from './alarms.ts';

/** Releases tasks whose holders were silent for longer than their leases, and renews the leases of the others. */
export interface Leases {
  /** Sets an alarm for every lease: the journals have those of earlier daemons. */
  start(): Promise<void>;
  /** A member has called. Returns at once. */
  heard(teamId: string, memberId: string): void;
  close(): void;
}

/** What is known about the lease of a task. */
interface Held extends Pick<TaskRecord, 'lease' | 'leaseUntil'> {
  readonly memberId: string;
}

/** Several daemons may look after the same team: the rules let only the first release count. */
export function keepLeases(ledger: Ledger, onError: (error: unknown, teamId: string) => void): Leases {
  const alarms = new Alarms(onError);
  /** The tasks with a lease by team. Nearly all teams have none, and a call must not wait for a look. */
  const leases = new Map<string, Map<string, Held>>();
  const unsubscribe = ledger.subscribe((teamId, { events }, state) => {
    for (const event of events) if ('taskId' in event && event.taskId !== undefined) note(state, event.taskId);
    if (state.team?.status === 'cleaned-up') forget(teamId);
  });

  return {
    async start() {
      for (const teamId of await ledger.teams()) {
        try {
          await ledger.view(teamId, (state) => {
            if (state.team?.status === 'cleaned-up') return;
            for (const { id, lease } of state.tasks.values()) if (lease !== undefined) note(state, id);
          });
        } catch (error) {
          onError(error, teamId);
        }
      }
    },
    heard(teamId, memberId) {
      const own = leases.get(teamId);
      if (!own) return;
      const now = Date.now();
      for (const [taskId, held] of own) {
        if (held.memberId !== memberId || !isRenewalDue(held, now)) continue;
        // Calls until the renewal is recorded need no other one.
        own.set(taskId, { ...held, leaseUntil: new Date(now + (held.lease ?? 0)) });
        void execute(teamId, { type: 'task.renew', by: memberId, taskId });
      }
    },
    close() {
      unsubscribe();
      alarms.close();
      leases.clear();
    },
  };

  /** Looks at a task that may have changed: its lease, and when it ends. */
  function note({ teamId, tasks }: TeamState, taskId: string): void {
    const { status, lease, leaseUntil, assigneeId: memberId } = tasks.get(taskId) ?? {};
    const own = leases.get(teamId);
    if (status !== 'in_progress' || leaseUntil === undefined || memberId === undefined) {
      if (!own?.delete(taskId)) return;
      alarms.clear(teamId, taskId);
      if (own.size === 0) leases.delete(teamId);
      return;
    }
    leases.set(teamId, (own ?? new Map<string, Held>()).set(taskId, { memberId, lease, leaseUntil }));
    arm(teamId, taskId, leaseUntil.getTime());
  }

  function arm(teamId: string, taskId: string, at: number): void {
    alarms.set(teamId, taskId, at, () => ring(teamId, taskId));
  }

  async function ring(teamId: string, taskId: string): Promise<void> {
    const reason = 'its lease is over';
    await execute(teamId, { type: 'task.release', by: SYSTEM, taskId, reason, expired: true });
    // Its work is handed in, or the clock of the daemon that recorded the lease is ahead.
    const held = leases.get(teamId)?.get(taskId);
    const until = held?.leaseUntil?.getTime() ?? 0;
    const now = Date.now();
    if (held && !alarms.has(teamId, taskId)) arm(teamId, taskId, until > now ? until : now + (held.lease ?? 0));
  }

  async function execute(teamId: string, command: Parameters<Ledger['execute']>[1]): Promise<void> {
    try {
      await ledger.execute(teamId, command, () => undefined);
    } catch (error) {
      // It was ended meanwhile, or its team is gone.
      const isOver = error instanceof TeamError && OVER.includes(error.code);
      if (!isOver) onError(error, teamId);
    }
  }

  function forget(teamId: string): void {
    for (const taskId of leases.get(teamId)?.keys() ?? []) alarms.clear(teamId, taskId);
    leases.delete(teamId);
  }
}

const OVER: readonly string[] = ['conflict', 'not_found', 'not_allowed', 'team_closed', 'member_stopped'];
