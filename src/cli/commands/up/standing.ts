import type { Client } from '../../../client/client.ts';
import { isTeamAgent } from '../../../core/agent-kinds.ts';
import { describeUse } from '../../../core/budget-words.ts';
import { hookTroubles } from '../../../core/hook-trouble.ts';
import { answererOf } from '../../../core/request.ts';
import { asksPerson } from '../../../core/situation.ts';
import { OVER_BUDGET, waitingOf } from '../../../core/waiting.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { findWaiting } from '../approve.ts';
import type { Request } from '../approve.ts';

/** The state of a team, and why it would not continue. */
export interface Standing {
  readonly seq: number;
  /** Whether the team is not closed. */
  readonly isOpen: boolean;
  readonly tasks: ResultOf<'task.list'>;
  readonly members: ResultOf<'member.list'>;
  /** Also those of teams inside of its members, with the way there. */
  readonly requests: readonly Request[];
  /** Those that only a person answers. The others go to the lead or a reviewer. */
  readonly toPerson: readonly Request[];
  /** All requests of its members, answered ones too: a wait for an answer is no work. */
  readonly asked: ResultOf<'request.list'>;
  readonly reason: 'done' | 'stuck' | 'person' | undefined;
  /** Hooks that failed and let work pass. */
  readonly troubles: readonly string[];
  /** The last answer of a lead that is an agent. */
  readonly answer?: string | undefined;
  /** If nobody can go on: the budgets that are used up, in words. */
  readonly spent: readonly string[];
}

/** Fetches the state of a team. */
export async function look(client: Client, teamId: string): Promise<Standing> {
  const [{ team, seq, pendingRequests }, tasks, asked] = await Promise.all([
    client.call('team.status', { teamId }),
    client.call('task.list', { teamId, limit: 10_000 }),
    client.call('request.list', { teamId }),
  ]);
  const { members } = team;
  const own = pendingRequests.filter(({ kind }) => kind !== 'shutdown');
  const hasTeams = members.some(({ agent }) => agent && isTeamAgent(agent));
  const requests = hasTeams ? await findWaiting(client, teamId, new AbortController().signal) : own;
  const leader = members.find(({ id }) => id === team.leadId);
  // A team inside of a member always has a lead.
  const toPerson = requests.filter((request) =>
    request.teamId === teamId ? asksPerson(request, leader) : answererOf(request.kind) === 'person',
  );
  const lead = leader?.agent === undefined ? undefined : leader;
  const leads = lead && (await isLeading(client, teamId, lead));
  const reason = leads ? undefined : reasonToEnd(tasks, members, own, lead);
  const troubles = hookTroubles(team.metadata);
  const spent = reason === 'stuck' ? await findSpent(client, team) : [];
  const isOpen = team.status !== 'cleaned-up';
  return { seq, isOpen, tasks, members, requests, toPerson, asked, reason, troubles, answer: lead?.lastResult, spent };
}

/** The budgets that keep members from going on. */
async function findSpent(client: Client, { id: teamId, members }: ResultOf<'team.show'>): Promise<string[]> {
  const found = await Promise.all(
    members
      .filter(({ agent }) => agent !== undefined)
      .map(async ({ id: memberId }) => {
        const uses = await client.call('budget.show', { teamId, memberId });
        return uses.filter(({ share }) => share >= 1).map((use) => describeUse(use, memberId));
      }),
  );
  return [...new Set(found.flat())];
}

/** Whether the lead is at work, or will be as soon as it hears the newest events. */
async function isLeading(client: Client, teamId: string, lead: Member): Promise<boolean> {
  const { status, metadata, id: memberId, statusSince } = lead;
  if (status !== 'idle') return status !== 'stopped';
  // Mail wakes it, such as the answer to its question. It takes the mail before it says that it is active.
  const mail = await client.call('message.inbox', { teamId, memberId, waiting: true });
  if (mail.some(({ deliveredAt }) => deliveredAt === undefined || deliveredAt > statusSince)) return true;
  const knows = metadata?.['knows'];
  if (typeof knows !== 'number') return false;
  return (await client.call('team.digest', { teamId, after: knows })).due;
}

type Member = Standing['members'][number];

function reasonToEnd(
  tasks: Standing['tasks'],
  members: Standing['members'],
  requests: Standing['requests'],
  lead: Member | undefined,
): Standing['reason'] {
  const isBusy = (member: Member): boolean => {
    const { agent, status, returning } = member;
    if (agent === undefined || waitingOf(member) === OVER_BUDGET) return false;
    return status === 'stopped' ? returning === true : status !== 'idle';
  };
  const allDone = tasks.every(({ status }) => status === 'completed');
  // Its asker goes on with the answer, or without one at its deadline. A stopped one gets it when it is started again.
  const isLive = (id: string): boolean => members.some((one) => one.id === id && one.status !== 'stopped');
  const isAsked = requests.some(({ kind, memberId }) => kind === 'question' && isLive(memberId));
  if (!lead && allDone && !isAsked) return 'done';
  // Work that was handed in lands without its member.
  const isLanding = tasks.some(({ work }) => work?.state === 'submitted');
  if (members.some(isBusy) || isLanding || isAsked) return undefined;
  // A team whose lead is gone or failed has no answer, even if all tasks are completed.
  if (allDone && lead?.status === 'idle' && lead.metadata?.['failure'] === undefined) return 'done';
  return requests.length > 0 ? 'person' : 'stuck';
}
