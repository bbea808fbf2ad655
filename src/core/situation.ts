import { z } from 'zod';
import { describeLimit, wordLimit } from './account-words.ts';
import { explainOwn, ownBlockers } from './blocked.ts';
import { showAmount } from './budget-words.ts';
import type { TeamParent } from './inner.ts';
import { isBlocked, isOpen, obstacles } from './obstacles.ts';
import type { Obstacle } from './obstacles.ts';
import { isPerson, isVacant } from './person.ts';
import { answererOf } from './request.ts';
import type { TeamRequest } from './request.ts';
import { isDown, isExpected } from './state.ts';
import type { MemberRecord, TaskRecord, TeamState } from './state.ts';
import { pendingRequests } from './tables.ts';
import { joinSome } from './text.ts';
import { requireTeam } from './view.ts';
import { silentSince } from './waiting.ts';

/** How a team is. Of all that holds, the first of these is said. */
export const SituationKind = z.enum([
  'closed',
  'shutting-down',
  'needs-you',
  'limited',
  'silent',
  'running',
  'stuck',
  'unclaimed',
  'failed',
  'done',
  'quiet',
]);
export type SituationKind = z.infer<typeof SituationKind>;

/** How a team is, in the same words on every face, and what helps. */
export const Situation = z.object({
  kind: SituationKind,
  /** In one or two words. */
  word: z.string(),
  /** In one line, with the reason. */
  text: z.string(),
  /** What helps: a request to answer, a task or a member to look at, an account to try. */
  requestId: z.string().optional(),
  taskId: z.string().optional(),
  memberId: z.string().optional(),
  account: z.string().optional(),
});
export type Situation = z.output<typeof Situation>;

/** Begins the text about a team in which a person must answer. */
export const NEEDS_YOU = 'Needs you';

/** Those in which nothing goes on by itself, or not soon. */
const TROUBLES: ReadonlySet<SituationKind> = new Set(['limited', 'silent', 'stuck', 'unclaimed', 'failed']);

/** Whether the work goes on only if somebody does something. Requests are told by themselves. */
export function isTrouble({ kind }: Pick<Situation, 'kind'>): boolean {
  return TROUBLES.has(kind);
}

/** How the team is at a moment, in milliseconds since 1970. */
export function situationOf(state: TeamState, at: number): Situation {
  const { team } = state;
  if (!team || team.status === 'cleaned-up') return say('closed', 'Closed');
  if (team.status === 'shutting-down') return say('shutting-down', 'Shutting down');
  return (
    needsPerson(state) ??
    limited(state, at) ??
    silent(state, at) ??
    (isAtWork(state) ? say('running', 'Running') : undefined) ??
    atRest(state, at)
  );
}

/** The requests that only a person answers. */
export function requestsToPerson(state: TeamState): TeamRequest[] {
  const { team, members } = state;
  const lead = team && members.get(team.leadId);
  return pendingRequests(state).filter((request) => asksPerson(request, lead));
}

/** Whether only a person answers a request. Without an agent that leads, plans wait for a person. So does the lead's own. */
export function asksPerson(
  { kind, memberId }: Pick<TeamRequest, 'kind' | 'memberId'>,
  lead: Pick<MemberRecord, 'id' | 'agent' | 'agentType'> | undefined,
): boolean {
  const answerer = answererOf(kind);
  if (answerer !== 'lead') return answerer === 'person';
  return !lead || isPerson(lead) || isVacant(lead) || lead.id === memberId;
}

function say(kind: SituationKind, word: string, text = word, help: Partial<Situation> = {}): Situation {
  return { kind, word, text, ...help };
}

function needsPerson(state: TeamState): Situation | undefined {
  const [first] = requestsToPerson(state);
  if (!first) return undefined;
  // Without a count: a queue also lists what a person may answer, but need not.
  return say('needs-you', NEEDS_YOU, `${NEEDS_YOU}: ${first.kind} of ${first.memberId}`, { requestId: first.id });
}

/** No agent of the team can begin a turn, because of its account. */
function limited(state: TeamState, at: number): Situation | undefined {
  const accounts = agentsOf(state).map(({ account }) => state.accounts.get(account ?? ''));
  const [first] = accounts;
  if (!first?.limit || !accounts.every((one) => one?.limit && one.limit.until > at)) return undefined;
  const { id: account, limit } = first;
  return say('limited', upper(wordLimit(limit)), upper(describeLimit(limit, account)), { account });
}

/** A member that works has not been heard for longer than its agent's turns should take. */
function silent(state: TeamState, at: number): Situation | undefined {
  const found = agentsOf(state)
    .flatMap((member) => {
      const since = silentSince(member);
      return since === undefined ? [] : [{ id: member.id, since }];
    })
    .sort((a, b) => a.since - b.since);
  const [first] = found;
  if (!first) return undefined;
  const word = `Silent for ${showAmount('minutes', (at - first.since) / 60_000).replace(' minutes', ' min')}`;
  return say('silent', word, `${word}: ${found.map(({ id }) => id).join(', ')}`, { memberId: first.id });
}

/** Whether somebody does something: a task is in progress, work is about to land, or an agent has a turn. */
function isAtWork(state: TeamState): boolean {
  if (state.index.counts.in_progress > 0 || requireTeam(state).work?.queue?.length) return true;
  return [...state.members.values()].some(
    (member) => member.agent !== undefined && isExpected(member) && member.status !== 'idle',
  );
}

/** Nobody does anything: whether all is done, and if not, why it does not go on. */
function atRest(state: TeamState, at: number): Situation {
  const { pending, failed, completed } = state.index.counts;
  // It follows from its task, which is told of where it is.
  const { parent } = requireTeam(state);
  if (parent && isDown(state)) return resting(parent);
  if (pending === 0 && failed === 0) return completed > 0 ? say('done', 'All completed') : say('quiet', 'Quiet');
  if (pending === 0) {
    const text = `${countTasks(failed)} failed, ${completed} completed`;
    return say('failed', `${failed} failed`, text, { taskId: lastFailed(state)?.id });
  }
  const open = [...state.tasks.values()].filter(({ status }) => status === 'pending');
  const ready = open.filter((task) => !isBlocked(state, task));
  const refused = ready.flatMap((task) => {
    const why = whyNobody(state, task, at);
    return why === undefined ? [] : [{ task, why }];
  });
  // An agent takes it in a moment, or a person may.
  if (refused.length < ready.length) return say('quiet', 'Quiet');
  return stuck(state) ?? unclaimed(open, refused) ?? say('quiet', 'Quiet');
}

function resting({ teamId, memberId, taskId }: TeamParent): Situation {
  return say('quiet', 'Resting', `Resting: ${memberId} of team ${teamId} does not work on task #${taskId} now`);
}

/** Tasks failed, and others wait for them, directly or not. */
function stuck(state: TeamState): Situation | undefined {
  const failed = [...state.tasks.values()].filter(
    (task) => task.status === 'failed' && waitersOf(state, task).size > 0,
  );
  const [first] = failed;
  if (!first) return undefined;
  const waiting = new Set(failed.flatMap((task) => [...waitersOf(state, task)]));
  const names = joinSome(
    failed.map(({ id }) => `#${id}`),
    ', ',
  );
  const wait = `${waiting.size} ${waiting.size === 1 ? 'waits' : 'wait'} for ${failed.length === 1 ? 'it' : 'them'}`;
  return say('stuck', 'Stuck', `Stuck: ${names} failed and ${wait}`, { taskId: first.id });
}

function waitersOf(state: TeamState, task: TaskRecord, found = new Set<string>()): Set<string> {
  for (const id of state.index.dependents.get(task.id) ?? []) {
    const waiter = state.tasks.get(id);
    if (waiter?.status !== 'pending' || found.has(id) || !isOpen(waiter, task)) continue;
    found.add(id);
    waitersOf(state, waiter, found);
  }
  return found;
}

/** Tasks that are ready, and that nobody can take; or tasks that something else keeps from everybody. */
function unclaimed(
  open: readonly TaskRecord[],
  refused: readonly { readonly task: TaskRecord; readonly why: string }[],
): Situation | undefined {
  const kept = open.flatMap((task) => {
    const own = ownBlockers(task).find(({ kind }) => kind === 'withheld');
    return own ? [{ task, why: `#${task.id} ${explainOwn(own)}` }] : [];
  });
  const all = [...refused, ...kept];
  const [first] = all;
  if (!first) return undefined;
  const text = `Nobody can take ${countTasks(all.length)}: ${first.why}`;
  return say('unclaimed', `Nobody can take ${countTasks(all.length)}`, text, { taskId: first.task.id });
}

/** Why no member can take a task that is ready; undefined if one can. */
function whyNobody(state: TeamState, task: TaskRecord, at: number): string | undefined {
  const { assigneeId } = task;
  const own = assigneeId !== undefined && state.members.get(assigneeId);
  if (assigneeId !== undefined && !(own && isExpected(own))) {
    return `#${task.id} is reserved for ${assigneeId}, which has stopped`;
  }
  const takers = [...state.members.values()].filter(
    (member) => isExpected(member) && !isVacant(member) && takes(state, member, task),
  );
  const found = takers.map(({ id: memberId }) => obstacles(state, { memberId, at }, task)[0]);
  if (found.includes(undefined)) return undefined;
  const [first] = found;
  return first === undefined ? 'no member runs that could' : explain(first, task);
}

/** A lead takes only what is reserved for it. */
function takes(state: TeamState, { id }: MemberRecord, { assigneeId }: TaskRecord): boolean {
  return id !== requireTeam(state).leadId || assigneeId === id;
}

/** Of a task that waits for nothing, and of a team that goes on. */
function explain(obstacle: Obstacle, { assigneeId }: TaskRecord): string {
  switch (obstacle.kind) {
    case 'unled':
      return `its lead ${obstacle.leadId} has stopped`;
    case 'delegating':
      return 'its lead only coordinates';
    case 'leaving':
      return 'its members are leaving';
    default:
      return `reserved for ${assigneeId}`;
  }
}

/** The members that Troupe runs. */
function agentsOf({ members }: TeamState): MemberRecord[] {
  return [...members.values()].filter((member) => member.agent !== undefined && isExpected(member));
}

/** The task that failed last. */
export function lastFailed({ tasks }: Pick<TeamState, 'tasks'>): TaskRecord | undefined {
  let last: TaskRecord | undefined;
  for (const task of tasks.values()) {
    if (task.status === 'failed' && (!last || task.updatedAt > last.updatedAt)) last = task;
  }
  return last;
}

/** `1 task`, `3 tasks`. */
export function countTasks(count: number): string {
  return count === 1 ? '1 task' : `${count} tasks`;
}

function upper(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
