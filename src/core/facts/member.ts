import { USER } from '../actor.ts';
import type { AgentSpec } from '../agent.ts';
import { mergeMetadata } from '../json.ts';
import { SPAWNS_PER_MINUTE } from '../limits.ts';
import { withRestart } from '../restarts.ts';
import type { MemberRecord, TeamState } from '../state.ts';
import { putMember, putTask, putTeam, putUsage } from '../tables.ts';
import { addUsage, NO_USAGE } from '../usage.ts';
import { sameSince } from '../view.ts';
import { changeMember, defined, withdrawBudgets, withdrawRequests } from './apply.ts';
import type { ApplyTo } from './apply.ts';

export const MEMBER_FACTS: ApplyTo<'teammate' | 'usage'> = {
  'teammate:joined': (state, { type: _type, at, by, cause: _cause, print: _print, memberId, ...data }) => {
    const before = state.members.get(memberId);
    putMember(state, memberId, {
      ...data,
      id: memberId,
      name: memberId,
      agentId: `${memberId}@${state.teamId}`,
      statusSince: new Date(at),
      joinedAt: new Date(at),
      planApproved: false,
      firstJoinedAt: before?.returning ? sameSince(before) : undefined,
      // Rate limits continue when a member returns. A person who starts a given-up member has looked at it.
      restarts: by === USER && !before?.returning ? undefined : before?.restarts,
      interruptions: before?.interruptions,
      spawns: before?.spawns,
      sendsPaidAt: before?.sendsPaidAt,
      granted: before?.granted,
      ranMs: before?.ranMs,
      ...standInOf(before, data.agent),
    });
    if (data.agent) startClock(state, at);
    withdrawRequests(state, (request) => request.kind === 'restart' && request.memberId === memberId);
    if (!data.agent) return;
    changeMember(state, by, (spawner) => ({
      ...spawner,
      spawns: [...(spawner.spawns ?? []), at].slice(-SPAWNS_PER_MINUTE),
    }));
  },

  'teammate:changed': (
    state,
    { type: _type, at, by: _by, cause: _cause, print: _print, memberId, interrupted, innerTeam, ...changes },
  ) => {
    const before = state.members.get(memberId)?.budget;
    changeMember(state, memberId, (member) => ({
      ...member,
      // A new session starts with an empty conversation.
      context: changes.sessionId === undefined || changes.sessionId === member.sessionId ? member.context : undefined,
      ...defined(changes),
      ...(innerTeam && member.agent && { agent: { ...member.agent, team: innerTeam } }),
      granted: changes.budget ? changes.granted : member.granted,
      statusSince: changes.status && changes.status !== member.status ? new Date(at) : member.statusSince,
      metadata: mergeMetadata(member.metadata, changes.metadata),
      ...(interrupted !== undefined && {
        interruptions: { times: (member.interruptions?.times ?? 0) + 1, last: interrupted },
      }),
    }));
    if (changes.budget) withdrawBudgets(state, { before, after: changes.budget, memberId });
  },

  'teammate:switched': (state, { memberId, agent, sessionId, model, account, standIn }) =>
    changeMember(state, memberId, (member) => ({
      ...member,
      agent,
      sessionId,
      model,
      account,
      standIn,
      context: undefined,
    })),

  'teammate:placed': (state, { memberId, hostId }) =>
    changeMember(state, memberId, (member) => ({ ...member, hostId })),

  'teammate:idle': (state, { at, memberId, result }) =>
    changeMember(state, memberId, (member) => ({
      ...member,
      status: 'idle',
      statusSince: new Date(at),
      lastResult: result ?? member.lastResult,
    })),

  'teammate:stopped': (state, { at, memberId, reason, returning }) => {
    changeMember(state, memberId, (member) => ({
      ...member,
      ranMs: member.status === 'stopped' ? member.ranMs : (member.ranMs ?? 0) + at - member.joinedAt.getTime(),
      status: 'stopped',
      statusSince: new Date(at),
      stoppedAt: new Date(at),
      stopReason: reason,
      returning,
      restarts: returning ? withRestart(member.restarts ?? [], at) : member.restarts,
    }));
    stopClock(state, at);
    // What it handed in waits on. A reviewer that returns can still answer. The answer to a question waits in its inbox.
    withdrawRequests(
      state,
      ({ kind, memberId: whose }) =>
        whose === memberId && kind !== 'work' && kind !== 'question' && !(kind === 'review' && returning),
    );
  },

  'usage:recorded': (state, { memberId, taskId, usage, context, inner }) => {
    if (context) changeMember(state, memberId, (member) => ({ ...member, context }));
    // It is heard of again.
    withdrawRequests(state, (request) => request.kind === 'hang' && request.memberId === memberId);
    putUsage(state, 'memberUsage', memberId, addUsage(state.memberUsage.get(memberId) ?? NO_USAGE, usage));
    if (taskId === undefined) return;
    putUsage(state, 'taskUsage', taskId, addUsage(state.taskUsage.get(taskId) ?? NO_USAGE, usage));
    const task = state.tasks.get(taskId);
    if (!task?.inner || task.inner.teamId !== inner) return;
    putTask(state, taskId, { ...task, inner: { ...task.inner, usage: addUsage(task.inner.usage, usage) } });
  },
};

/** A member that returns with the same agent still stands in for its own. */
function standInOf(before: MemberRecord | undefined, agent: AgentSpec | undefined): Partial<MemberRecord> {
  if (!before?.standIn || JSON.stringify(before.agent) !== JSON.stringify(agent)) return {};
  const { standIn, fallbackAccounts } = before;
  return { standIn, fallbackAccounts };
}

/** A team's time budget runs while any of its agents does. */
function startClock(state: TeamState, at: number): void {
  const { team } = state;
  if (team && team.runsSince === undefined) putTeam(state, { ...team, runsSince: at });
}

function stopClock(state: TeamState, at: number): void {
  const { team } = state;
  if (team?.runsSince === undefined) return;
  for (const { agent, status } of state.members.values()) if (agent && status !== 'stopped') return;
  putTeam(state, { ...team, runsSince: undefined, ranMs: (team.ranMs ?? 0) + at - team.runsSince });
}
