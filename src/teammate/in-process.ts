import { join } from 'node:path';
import { accountOf } from '../agents/account.ts';
import type { Agent } from '../agents/agent.ts';
import { findUserHome } from '../agents/user-home.ts';
import { SYSTEM } from '../core/actor.ts';
import type { AgentSpec } from '../core/agent.ts';
import { SHUTDOWN } from '../core/member-marks.ts';
import type { TeamState } from '../core/state.ts';
import type { Services } from '../operations/operation.ts';
import { codeOf } from './door.ts';
import { agentEnvironment } from './environment.ts';
import { localDoor } from './local-door.ts';
import { openWork } from './open-work.ts';
import { ownAgentOf } from './own-agents.ts';
import type { OwnAgents } from './own-agents.ts';
import { startOf } from './start.ts';
import { runTeammate } from './teammate.ts';

/** One member. */
interface Who {
  readonly teamId: string;
  readonly memberId: string;
}

/** What running members in this process needs. */
export interface InProcessOptions {
  readonly services: Services;
  readonly hostId: string;
  readonly agents: OwnAgents;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called when a member ended unasked. */
  readonly died: (who: Who, how: string) => Promise<void>;
  readonly onError: (error: unknown, about: Who) => void;
}

/** Members that run in this process. */
export interface InProcess {
  /** Runs the members that an earlier process left, and then those that join. */
  start(): Promise<void>;
  /** Ends their turns, marks them as stopped and releases their tasks. */
  close(): Promise<void>;
}

interface Running extends Who {
  /** Whether it was the lead when it was started. */
  readonly leads: boolean;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** Runs the members whose agents are objects of this process. The supervisor runs all others, as processes. */
export function openInProcess(options: InProcessOptions): InProcess {
  const { agents, died, onError } = options;
  const { ledger } = options.services;
  const running = new Map<string, Running>();
  let unsubscribe = (): void => {};
  let isClosed = false;

  function consider(who: Who, state: TeamState): void {
    const { agent: spec, status = 'stopped' } = state.members.get(who.memberId) ?? {};
    const agent = spec && ownAgentOf(agents, spec);
    if (!agent || status === 'stopped' || isClosed) return;
    const key = `${who.teamId}/${who.memberId}`;
    const before = running.get(key)?.ended;
    const stop = new AbortController();
    const ended = live({ ...who, agent, spec, signal: stop.signal }, before)
      .catch((error: unknown) => onError(error, who))
      .finally(() => running.get(key)?.ended === ended && running.delete(key));
    running.set(key, { ...who, leads: state.team?.leadId === who.memberId, stop, ended });
  }

  /** A new lead starts again as a lead, and a former one as a teammate: each knows its part from its start. */
  function changeParts(state: TeamState): void {
    const { teamId, team } = state;
    for (const one of running.values()) {
      const { memberId, leads, stop } = one;
      if (one.teamId !== teamId || leads === (team?.leadId === memberId)) continue;
      stop.abort();
      consider({ teamId, memberId }, state);
    }
  }

  async function live(member: Parameters<typeof runMember>[1], before: Promise<void> | undefined): Promise<void> {
    // It may have joined again while its last turn was still ending.
    await before;
    const how = await runMember(options, member).catch((error: unknown) => String(error));
    if (how !== undefined && !member.signal.aborted) await died(member, how);
  }

  return {
    async start() {
      unsubscribe = ledger.subscribe((teamId, { events }, state) => {
        for (const event of events) {
          if (event.type === 'teammate:stopped') running.get(`${teamId}/${event.memberId}`)?.stop.abort();
          if (event.type === 'teammate:joined') consider({ teamId, memberId: event.memberId }, state);
          if (event.type === 'team:updated' && event.leadId !== undefined) changeParts(state);
        }
      });
      const look = (state: TeamState): void => {
        if (state.team?.status !== 'active') return;
        for (const memberId of state.members.keys()) consider({ teamId: state.teamId, memberId }, state);
      };
      await ledger.viewAll(look, { unreadable: () => undefined });
    },
    async close() {
      isClosed = true;
      unsubscribe();
      const ending = [...running.values()];
      for (const { stop } of ending) stop.abort();
      await Promise.all(
        ending.map(async (member) => {
          await member.ended;
          await leave(options, member, 'the process that runs it ended').catch((error: unknown) =>
            onError(error, member),
          );
        }),
      );
    },
  };
}

/** Runs one member to its end. Returns how it died if nobody asked it to end. */
async function runMember(
  options: InProcessOptions,
  { teamId, memberId, agent, spec, signal }: Who & { agent: Agent; spec: AgentSpec; signal: AbortSignal },
): Promise<string | undefined> {
  const { services, hostId, environment, onError } = options;
  const who = { teamId, memberId };
  if (signal.aborted || !(await place(services, { ...who, hostId }))) return undefined;
  const asMember = localDoor(services, { ...who, isLead: false });
  const team = await asMember.call('team.show', { teamId });
  const member = await asMember.call('member.show', who);
  const apart = { signal, onError: (error: unknown) => onError(error, who) };
  const work = member.workspace === 'own' ? await openWork(asMember, who, apart) : undefined;
  const slot = work ? { TROUPE_SLOT: String(work.slot) } : {};
  const env = agentEnvironment(environment, { ...(spec.env && { added: spec.env }), team: slot });
  const ending = await runTeammate({
    door: localDoor(services, { ...who, isLead: team.leadId === memberId }),
    agent,
    signal,
    onError: (error) => onError(error, who),
    worksApart: work !== undefined,
    account: accountOf(spec, { memberId, env, home: findUserHome(environment), machine: hostId }),
    transcriptPath: (sessionId) => join(services.daemon.transcriptFolder(teamId, memberId), `${sessionId}.jsonl`),
    ...startOf({ team, member, agent: spec }, { cwd: work?.folder ?? member.cwd ?? process.cwd(), env }),
  });
  if (ending === 'shutdown') await leave(options, who, SHUTDOWN);
  return ending === 'crashed' ? 'its agent ended' : undefined;
}

/** Whether the member is ours to run: another process may have it, or it may be gone again. */
async function place({ ledger }: Services, { teamId, memberId, hostId }: Who & { hostId: string }): Promise<boolean> {
  const command = { type: 'member.place', by: SYSTEM, memberId, hostId } as const;
  return ledger
    .execute(teamId, command, () => true)
    .catch((error: unknown) => {
      if (['claim_conflict', 'not_found', 'member_stopped', 'team_closed'].includes(codeOf(error) ?? '')) return false;
      throw error;
    });
}

async function leave({ services, hostId }: InProcessOptions, { teamId, memberId }: Who, reason: string): Promise<void> {
  const command = { type: 'member.leave', by: SYSTEM, memberId, reason, returning: false, hostId } as const;
  await services.ledger
    .execute(teamId, command, () => undefined)
    .catch((error: unknown) => {
      // Already recorded elsewhere.
      if (!['member_stopped', 'team_closed', 'not_found'].includes(codeOf(error) ?? '')) throw error;
    });
}
