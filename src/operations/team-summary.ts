import { z } from 'zod';
import type { TeamError } from '../core/errors.ts';
import { countMembers } from '../core/member-count.ts';
import { NO_SESSION } from '../core/member-marks.ts';
import { Situation, situationOf } from '../core/situation.ts';
import type { TeamState } from '../core/state.ts';
import { TeamConfig } from '../core/team.ts';
import { Timestamp } from '../core/time.ts';
import { Usage } from '../core/usage.ts';
import { teamUsage } from '../core/view.ts';

/** A team in one line of a list; of a team with a problem only the name is known. */
export const TeamSummary = TeamConfig.omit({ members: true, metadata: true }).extend({
  problem: z.string().optional().describe('why it cannot be read, and what to do'),
  members: z.number().int(),
  tasks: z.number().int(),
  completedTasks: z.number().int(),
  seq: z.number().int().describe('the number of its last batch'),
  running: z.number().int().describe('tasks in progress'),
  failed: z.number().int(),
  waiting: z.number().int().describe('requests that wait for an answer'),
  usage: Usage,
  situation: Situation.describe('how it is, in words, and what helps'),
  activeAt: Timestamp.describe('when something last happened to a task, a member or an inbox'),
});

export type TeamSummary = z.output<typeof TeamSummary>;

/** A team of a list. */
export function summarize(state: TeamState, seq: number): TeamSummary[] {
  if (!state.team) return [];
  const { counts } = state.index;
  const { metadata: _metadata, ...team } = state.team;
  return [
    {
      ...team,
      members: countMembers(state.members.values(), state.team).members,
      tasks: state.tasks.size - counts.deleted,
      completedTasks: counts.completed,
      seq,
      running: counts.in_progress,
      failed: counts.failed,
      waiting: [...state.requests.values()].filter(({ status }) => status === 'pending').length,
      usage: teamUsage(state),
      situation: situationOf(state, Date.now()),
      activeAt: activeAt(state, team),
    },
  ];
}

/** Lists an unreadable team, so that it does not seem gone; with a status in which nothing can be done. */
export function summarizeUnreadable(teamId: string, { message }: TeamError): TeamSummary[] {
  return [
    {
      id: teamId,
      name: teamId,
      description: message,
      status: 'cleaned-up',
      problem: message,
      leadId: NO_SESSION,
      leadSessionId: NO_SESSION,
      teammateMode: 'auto',
      resolvedBackend: 'in-process',
      maxTeammates: 0,
      delegateMode: false,
      createdAt: new Date(0),
      hooks: [],
      members: 0,
      tasks: 0,
      completedTasks: 0,
      seq: 0,
      running: 0,
      failed: 0,
      waiting: 0,
      usage: Usage.parse({}),
      situation: { kind: 'failed', word: 'Cannot be read', text: 'Cannot be read' },
      activeAt: new Date(0),
    },
  ];
}

/** The last activity, from data at hand: of each inbox it looks only at the last message. */
function activeAt(state: TeamState, { createdAt, closedAt }: { createdAt: Date; closedAt?: Date | undefined }): Date {
  let last = Math.max(createdAt.getTime(), closedAt?.getTime() ?? 0);
  const see = (moment: Date | undefined): void => void (last = Math.max(last, moment?.getTime() ?? 0));
  for (const { statusSince } of state.members.values()) see(statusSince);
  for (const { updatedAt } of state.tasks.values()) see(updatedAt);
  for (const { ids } of state.index.inboxes.values()) see(state.messages.get(ids.at(-1) ?? '')?.sentAt);
  return new Date(last);
}
