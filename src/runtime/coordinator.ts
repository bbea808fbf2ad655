import { EventEmitter } from 'node:events';
import type { z } from 'zod';
import { SYSTEM, USER } from '../core/actor.ts';
import type { Actor } from '../core/actor.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { NO_SESSION } from '../core/member-marks.ts';
import { JoinInput } from '../core/member.ts';
import type { TeamMember } from '../core/member.ts';
import type { TeamMessage } from '../core/message.ts';
import { parse } from '../core/parse.ts';
import type { TeamState } from '../core/state.ts';
import { CreateTeamInput } from '../core/team.ts';
import type { TeamConfig, UpdateTeamInput } from '../core/team.ts';
import { viewTeam } from '../core/view.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import { detectBackend } from './backend.ts';
import type { SessionManager } from './sessions.ts';

/** The events of the coordinator. */
export interface CoordinatorEvents {
  'teammate:joined': [member: { teamId: string; memberId: string }];
  'teammate:stopped': [member: { teamId: string; memberId: string; reason: string | undefined }];
}

/** How long a member may take to answer a shutdown request; after that it counts as unanswered. */
const ANSWER_MS = 60_000;

/** Chooses the agent of a new teammate, or refuses it. */
export type AgentFor = (teamId: string, teammate: JoinInput) => Promise<AgentSpec>;

/** The actor, and what else goes into the command. */
interface Speaker {
  readonly by?: Actor;
  readonly commandId?: string;
  readonly onHost?: string;
}

/** The life of teams: create, add members, send messages, shut down, clean up. */
export class TeamCoordinator extends EventEmitter<CoordinatorEvents> {
  readonly #ledger: Ledger;
  readonly #mailbox: Mailbox;
  readonly #sessions: SessionManager;
  readonly #agentFor: AgentFor | undefined;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #unsubscribe: () => void;
  /** Pending calls that make a session a lead, by session. */
  readonly #leading = new Map<string, Promise<void>>();

  constructor(
    parts: { ledger: Ledger; mailbox: Mailbox; sessions: SessionManager; agentFor?: AgentFor | undefined },
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    super();
    this.#ledger = parts.ledger;
    this.#mailbox = parts.mailbox;
    this.#sessions = parts.sessions;
    this.#agentFor = parts.agentFor;
    this.#environment = environment;
    this.#unsubscribe = parts.ledger.subscribe((teamId, { events }, { team }) => {
      for (const event of events) {
        // The lead is a member but not a teammate.
        if ('memberId' in event && event.memberId === team?.leadId) continue;
        if (event.type === 'teammate:joined') this.notifyTeammateJoined(teamId, event.memberId);
        if (event.type === 'teammate:stopped') {
          this.emit('teammate:stopped', { teamId, memberId: event.memberId, reason: event.reason });
        }
      }
    });
  }

  /** Creates a team. A session leads one team at a time. */
  async createTeam(
    leadSessionId: string,
    config: Omit<z.input<typeof CreateTeamInput>, 'leadSessionId' | 'resolvedBackend'>,
    options: { by?: Actor; commandId?: string } = {},
  ): Promise<TeamConfig> {
    const { by = USER, ...once } = options;
    const team = parse(CreateTeamInput, {
      ...config,
      leadSessionId,
      resolvedBackend: detectBackend(config.teammateMode ?? 'auto', this.#environment),
    });
    return this.recordTeam(team, { by, ...once });
  }

  /** Creates a team from complete input; its session may lead no other open team. */
  recordTeam(team: CreateTeamInput, { by = USER, ...once }: Speaker): Promise<TeamConfig> {
    return this.#asOnlyLead(team.leadSessionId, team.name, () =>
      this.#ledger.execute(team.name, { type: 'team.create', by, ...once, ...team }, viewTeam),
    );
  }

  /** Changes a team; a session that becomes its lead may lead no other open team. */
  updateTeam(teamId: string, changes: UpdateTeamInput, { by = USER, ...once }: Speaker): Promise<TeamConfig> {
    return this.#asOnlyLead(changes.leadSessionId, teamId, () =>
      this.#ledger.execute(teamId, { type: 'team.update', by, ...once, ...changes }, viewTeam),
    );
  }

  /** Adds a teammate: recorded first, then started by the daemon that takes it. Without `agent` one is chosen. */
  async spawnTeammate(
    teamId: string,
    options: z.input<typeof JoinInput>,
    by: Actor = USER,
    once: { commandId?: string } = {},
  ): Promise<TeamMember> {
    const teammate = parse(JoinInput, options);
    const agent = this.#agentFor ? await this.#agentFor(teamId, teammate) : teammate.agent;
    return this.#sessions.spawnSession(teamId, by, { ...options, agent }, once);
  }

  /** Emits `teammate:joined`. A join is a change of state, not a message, so it wakes no member. */
  notifyTeammateJoined(teamId: string, memberId: string): void {
    this.emit('teammate:joined', { teamId, memberId });
  }

  sendMessage(teamId: string, fromId: Actor, toId: string, message: string): Promise<TeamMessage> {
    return this.#mailbox.send(teamId, fromId, { toId, content: message });
  }

  broadcastMessage(teamId: string, fromId: Actor, message: string): Promise<TeamMessage[]> {
    return this.#mailbox.broadcast(teamId, fromId, message);
  }

  /**
   * Asks a teammate to stop; resolves with whether it agreed. No answer in time counts as no. With `asks`,
   * its agent is asked in a turn; otherwise it agrees between two tasks.
   */
  async requestShutdown(
    teamId: string,
    teammateId: string,
    options: { by?: Actor; reason?: string; within?: number; asks?: boolean } = {},
  ): Promise<boolean> {
    const { by = SYSTEM, reason = '', within = ANSWER_MS, asks = false } = options;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stopListening = this.#ledger.subscribe((team, { events }) => {
      if (team !== teamId) return;
      for (const event of events) {
        if (!('memberId' in event) || event.memberId !== teammateId) continue;
        if (event.type === 'shutdown:approved' || event.type === 'teammate:stopped') resolve(true);
        if (event.type === 'shutdown:rejected') resolve(false);
      }
    });
    const timer = setTimeout(() => resolve(false), within);
    try {
      await this.#ledger.execute(
        teamId,
        { type: 'shutdown.request', by, memberId: teammateId, reason, ...(asks && { within }) },
        () => undefined,
      );
      return await promise;
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  }

  /** Ends a teammate whether it agrees or not. Returns what that took, for example `terminated`. */
  shutdownTeammate(teamId: string, teammateId: string, reason: string): Promise<string> {
    return this.#sessions.stopSession(teamId, teammateId, reason);
  }

  /** Shuts a team down: asks all members at once to stop, ends those that don't in time, closes the team. */
  async shutdownTeam(
    teamId: string,
    options: { by?: Actor; reason?: string; within: number; force?: boolean; ask?: boolean },
  ): Promise<TeamConfig> {
    const { by = USER, reason = 'the team is shut down', within, force = false, ask: asks = true } = options;
    const live = await this.#ledger.execute(
      teamId,
      { type: 'team.update', by, status: 'shutting-down' },
      liveTeammates,
    );
    await Promise.all(
      live.map(async ({ memberId, canAnswer }) => {
        const agreed =
          !force &&
          canAnswer &&
          (await this.requestShutdown(teamId, memberId, { reason, within, asks }).catch(ignoreGone));
        if (agreed) await this.#hasGone(teamId, memberId, within);
        // Also for a member that has gone: its process may need a moment more, and the caller waits for its end.
        await this.shutdownTeammate(teamId, memberId, reason);
      }),
    );
    return this.#ledger.execute(teamId, { type: 'team.close', by, force: true }, viewTeam);
  }

  /**
   * Ends all members at once. The team stays open, to go on later. Meanwhile it counts as shutting down: a member that
   * is about to stop must not claim the tasks of one that has stopped.
   */
  async restTeam(teamId: string, { by = USER, reason }: { by?: Actor; reason: string }): Promise<TeamConfig> {
    if ((await this.#ledger.view(teamId, liveTeammates)).length === 0) return this.#ledger.view(teamId, viewTeam);
    const setStatus = <R>(status: 'active' | 'shutting-down', view: (state: TeamState) => R): Promise<R> =>
      this.#ledger.execute(teamId, { type: 'team.update', by, status }, view);
    const live = await setStatus('shutting-down', liveTeammates);
    try {
      await Promise.all(live.map(({ memberId }) => this.shutdownTeammate(teamId, memberId, reason)));
    } finally {
      await setStatus('active', viewTeam);
    }
    return this.#ledger.view(teamId, viewTeam);
  }

  /** Closes a team whose teammates have all gone. */
  cleanupTeam(teamId: string, by: Actor = USER): Promise<TeamConfig> {
    return this.#ledger.execute(teamId, { type: 'team.close', by, force: false }, viewTeam);
  }

  close(): void {
    this.#unsubscribe();
    this.removeAllListeners();
  }

  /**
   * Serializes calls for the same session: otherwise two at once would both find it free. On two daemons at the same
   * moment both succeed: each team is its own stream, and no append can depend on two. Closing one of them afterwards
   * would undo something that its caller was told is done.
   */
  async #asOnlyLead<R>(sessionId: string | undefined, name: string, work: () => Promise<R>): Promise<R> {
    if (sessionId === undefined || sessionId === NO_SESSION) return work();
    const before = this.#leading.get(sessionId);
    const { promise: mine, resolve: done } = Promise.withResolvers<void>();
    this.#leading.set(sessionId, mine);
    try {
      await before;
      await this.#requireLeadsNone(sessionId, name);
      return await work();
    } finally {
      done();
      if (this.#leading.get(sessionId) === mine) this.#leading.delete(sessionId);
    }
  }

  async #requireLeadsNone(leadSessionId: string, name: string): Promise<void> {
    const [other] = (
      await this.#ledger.viewAll(
        ({ team }) => (team?.leadSessionId === leadSessionId && team.status !== 'cleaned-up' ? [team.name] : []),
        // An unreadable team has no lead.
        { of: (teamId) => teamId !== name, unreadable: () => [] },
      )
    ).flat();
    if (other === undefined) return;
    throw new TeamError('conflict', `Session ${leadSessionId} already leads team ${other}: close that team first`);
  }

  async #hasGone(teamId: string, memberId: string, within: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const gone = (state: TeamState): boolean => state.members.get(memberId)?.status === 'stopped';
    const stopListening = this.#ledger.subscribe((team, _batch, state) => {
      if (team === teamId && gone(state)) resolve(true);
    });
    const timer = setTimeout(() => resolve(false), within);
    try {
      if (await this.#ledger.view(teamId, gone)) return true;
      return await promise;
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  }
}

/** The teammates to stop. One that no machine has taken yet runs nowhere and could not answer. */
function liveTeammates(state: TeamState): { memberId: string; canAnswer: boolean }[] {
  return [...state.members.values()]
    .filter((member) => member.status !== 'stopped' && member.agent !== undefined)
    .map(({ id, status, hostId }) => ({ memberId: id, canAnswer: status !== 'spawning' || hostId !== undefined }));
}

/** A member that is gone has, in effect, agreed. */
function ignoreGone(error: unknown): boolean {
  if (error instanceof TeamError && error.code === 'member_stopped') return true;
  throw error;
}
