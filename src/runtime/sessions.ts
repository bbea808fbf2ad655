import { EventEmitter } from 'node:events';
import type { z } from 'zod';
import type { Actor } from '../core/actor.ts';
import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import { JoinInput } from '../core/member.ts';
import type { TeamMember, TeammateStatus } from '../core/member.ts';
import { parse } from '../core/parse.ts';
import { rejoinInput } from '../core/rejoin.ts';
import type { TeamState } from '../core/state.ts';
import { requireMember, requireTeam, viewMember } from '../core/view.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import type { Supervisor } from './supervisor.ts';

/** A member at work: its conversation and its process. */
export interface Session {
  readonly id: string;
  readonly teamId: string;
  readonly teamRole: 'lead' | 'teammate';
  readonly memberId: string;
  readonly status: TeammateStatus;
  readonly startedAt: Date;
  readonly pid?: number | undefined;
}

/** The events of the manager. */
export interface SessionEvents {
  'session:failed': [failure: { teamId: string; memberId: string; reason: string; restartsIn: number | undefined }];
}

/** Starts and ends members' sessions. The supervisor keeps them alive; the team's record says what they are. */
export class SessionManager extends EventEmitter<SessionEvents> {
  readonly #ledger: Ledger;
  readonly #mailbox: Mailbox;
  readonly #supervisor: Supervisor;

  constructor(ledger: Ledger, mailbox: Mailbox, supervisor: Supervisor) {
    super();
    this.#ledger = ledger;
    this.#mailbox = mailbox;
    this.#supervisor = supervisor;
    supervisor.on('session:failed', (failure) => this.emit('session:failed', failure));
  }

  /** Requests a session: a daemon that may run the member starts it. */
  async spawnSession(
    teamId: string,
    by: Actor,
    input: z.input<typeof JoinInput>,
    once: { commandId?: string } = {},
  ): Promise<TeamMember> {
    const join = parse(JoinInput, { ...input, status: 'spawning' });
    if (!join.agent) throw new TeamError('invalid', `${join.name} needs an agent`);
    return this.#ledger.execute(teamId, { type: 'member.join', by, ...once, ...join }, (state) =>
      viewMember(state, requireMember(state, join.name)),
    );
  }

  /** Gives a session something to do besides its tasks; resolves with the result when it is idle again. */
  async executeInSession(
    session: { teamId: string; memberId: string },
    text: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { teamId, memberId } = session;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const onIdle = (notice: { teamId: string; memberId: string; result: string | undefined }): void => {
      if (notice.teamId === teamId && notice.memberId === memberId) resolve(notice.result ?? '');
    };
    const stopListening = this.#ledger.subscribe((team, { events }) => {
      for (const event of events) {
        if (team !== teamId || event.type !== 'teammate:stopped' || event.memberId !== memberId) continue;
        const why = event.reason === undefined ? '' : `: ${event.reason}`;
        reject(new TeamError('member_stopped', `${memberId} stopped before it was done${why}`));
      }
    });
    const onAbort = (): void => reject(new TeamError('conflict', `Stopped waiting for ${memberId}`));
    this.#mailbox.on('teammate:idle', onIdle);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.#mailbox.send(teamId, SYSTEM, { toId: memberId, content: text, type: 'system' });
      return await promise;
    } finally {
      stopListening();
      this.#mailbox.off('teammate:idle', onIdle);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends a session at once: SIGTERM, a pause, SIGKILL. Returns what that took; the member's tasks are released. */
  async stopSession(teamId: string, memberId: string, reason: string): Promise<string> {
    const how = (await this.#supervisor.stop(teamId, memberId)) ?? 'had no process';
    await this.#ledger
      .execute(teamId, { type: 'member.leave', by: SYSTEM, memberId, reason, returning: false }, () => undefined)
      .catch(ignoreStopped);
    return how;
  }

  /** Ends a session if there is one, and starts the same member again; tasks reserved for it stay reserved. */
  async restartSession(teamId: string, memberId: string, by: Actor): Promise<TeamMember> {
    const member = await this.#ledger.view(teamId, (state) => requireMember(state, memberId));
    if (!member.agent) {
      throw new TeamError('unsupported', `Troupe does not run ${memberId}, so it cannot restart it`);
    }
    await this.#supervisor.stop(teamId, memberId);
    const left = { type: 'member.leave', by: SYSTEM, memberId, reason: 'started again', returning: true } as const;
    await this.#ledger.execute(teamId, left, () => undefined).catch(ignoreStopped);
    return this.#ledger.execute(teamId, { type: 'member.join', by, ...rejoinInput(member) }, (state) =>
      viewMember(state, requireMember(state, memberId)),
    );
  }

  /** The sessions of a team, the lead's first. */
  getSessionsByTeam(teamId: string): Promise<Session[]> {
    const processes = new Map(this.#supervisor.list(teamId).map((record) => [record.memberId, record.identity?.pid]));
    return this.#ledger.view(teamId, (state) => sessionsOf(state, processes));
  }

  /** Whether this daemon has a process of the member that has not ended yet. */
  hasProcess(teamId: string, memberId: string): boolean {
    return this.#supervisor.list(teamId).some((record) => record.memberId === memberId);
  }

  /** Ends every session of a team. */
  async cleanupSessions(teamId: string, reason: string): Promise<void> {
    await Promise.all(this.#supervisor.list(teamId).map(({ memberId }) => this.stopSession(teamId, memberId, reason)));
  }
}

/** Ignores that a member was already stopped, or left by itself while it ended. */
function ignoreStopped(error: unknown): void {
  if (!(error instanceof TeamError) || error.code !== 'member_stopped') throw error;
}

function sessionsOf(state: TeamState, pids: ReadonlyMap<string, number | undefined>): Session[] {
  const { leadId } = requireTeam(state);
  return [...state.members.values()]
    .filter((member) => member.status !== 'stopped')
    .map((member) => ({
      id: member.sessionId,
      teamId: state.teamId,
      teamRole: member.id === leadId ? 'lead' : 'teammate',
      memberId: member.id,
      status: member.status,
      startedAt: member.joinedAt,
      pid: pids.get(member.id),
      hostId: member.hostId,
    }));
}
