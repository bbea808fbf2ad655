import type { Usage } from '../../../src/core/usage.ts';
import { observeTask } from './task.ts';
import { TEAM } from './world.ts';
import type { World } from './world.ts';

/** Everything visible of a team. */
export function observeWorld(world: World): object {
  const { team } = world;
  const lead = world.members.filter(({ id }) => id === team?.leadId);
  const others = world.members.filter(({ id }) => id !== team?.leadId);
  return {
    team: team && { ...team, id: TEAM, name: TEAM, teammateMode: 'auto', resolvedBackend: 'in-process' },
    members: [...lead, ...others].map(({ planApproved, ...member }) => ({
      ...member,
      name: member.id,
      role: member.role === 'lead' && member.id !== team?.leadId ? 'teammate' : member.role,
      agentId: `${member.id}@${TEAM}`,
      assignedTasks: world.tasks
        .filter(({ status, assigneeId }) => ['pending', 'in_progress'].includes(status) && assigneeId === member.id)
        .map(({ id }) => id),
      planModeRequired: member.planApprovalRequired && !planApproved,
    })),
    tasks: world.tasks.map((task) => observeTask(world, task)),
    inboxes: world.members.map((member) => {
      const messages = world.messages.filter(({ toId }) => toId === member.id);
      return {
        messages: messages.map((message) => ({ ...message, teamId: TEAM, order: world.messages.indexOf(message) + 1 })),
        waiting: messages
          .filter(({ acknowledgedAt, readAt }) => acknowledgedAt === undefined && readAt === undefined)
          .map(({ id }) => id),
      };
    }),
    requests: world.requests.map((request) => ({ ...request, teamId: TEAM })),
    notes: world.notes.map((note) => ({ ...note, teamId: TEAM })),
    usage: {
      team: sum(world.usages.map(({ usage }) => usage)),
      members: world.members.map(({ id }) => sum(ofMember(world, id))),
      tasks: world.tasks.map(({ id }) => sum(world.usages.filter(({ taskId }) => taskId === id).map((u) => u.usage))),
    },
    accounts: world.accounts,
    nextId: String(world.tasks.length + 1),
  };
}

function ofMember(world: World, memberId: string): Usage[] {
  return world.usages.filter((record) => record.memberId === memberId).map(({ usage }) => usage);
}

function sum(usages: readonly Usage[]): Usage {
  const total = (key: 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'turns' | 'costUsd') =>
    usages.reduce((so, usage) => so + usage[key], 0);
  return {
    inputTokens: total('inputTokens'),
    outputTokens: total('outputTokens'),
    cacheReadTokens: total('cacheReadTokens'),
    cacheWriteTokens: total('cacheWriteTokens'),
    turns: total('turns'),
    costUsd: total('costUsd'),
    estimated: usages.some(({ estimated }) => estimated),
  };
}
